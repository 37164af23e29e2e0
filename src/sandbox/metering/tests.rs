//! Modules that were rewritten compute what they did, whatever they are, and end when their budget does.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use wasmtime::{Engine, Extern, Func, Global, Instance, Linker, Memory, Module, Store, Trap, Val};

use super::*;
use crate::sandbox::budget::{Budget, MemoryCap};
use crate::sandbox::clock::Clock;
use crate::sandbox::engine;
use crate::sandbox::entropy::Entropy;
use crate::sandbox::files::tree::Quota;
use crate::sandbox::files::{Files, Mounts};
use crate::sandbox::guest::World;
use crate::sandbox::watcher::Watcher;
use crate::sandbox::worker::stay_on_worker;
use crate::{Capacity, Limits, Metering};

/// What a module that was not rewritten may use; those that need more are only asked to end.
const OPERATORS: u64 = 200_000;
const MEMORY: u64 = 64 << 20;

fn guest() -> Guest {
    let mounts = Arc::new(Mounts::new(PathBuf::from("absent"), PathBuf::from("absent")));
    let files = Files::new(mounts, Quota { bytes: 0, entries: 0, depth: 0 }, 0, 0);
    let world = World { files, clock: Clock::real(0), entropy: Entropy::System };
    let memory = MemoryCap::new(MEMORY, Budget::new(&Capacity::default().memory(MEMORY)).charge());
    Guest::new(world, memory, &Limits::default())
}

/// A module that runs, counted in one way or the other.
struct Machine {
    store: Store<Guest>,
    instance: Instance,
    functions: Vec<(String, Func)>,
    memory: Option<Memory>,
    globals: Vec<Global>,
}

impl Machine {
    /// `None` when it does not start.
    fn start(engine: &Engine, wasm: &[u8], budget: u64) -> Option<Self> {
        let module = Module::new(engine, wasm).unwrap();
        let mut store = Store::new(engine, guest());
        store.limiter(|guest| &mut guest.growth);
        let mut linker = Linker::new(engine);
        linker.define_unknown_imports_as_default_values(&mut store, &module).ok()?;
        if store.set_fuel(budget).is_ok() {
            store.set_epoch_deadline(u64::MAX);
        }
        let instance = linker.instantiate(&mut store, &module).ok()?;
        store.data_mut().meter = Meter::of(instance.get_shared_memory(&mut store, COUNTER));
        begin(&mut store, budget).unwrap();
        let (mut functions, mut memory, mut globals) = (Vec::new(), None, Vec::new());
        let names: Vec<String> = module.exports().map(|export| export.name().to_owned()).collect();
        for name in names.into_iter().filter(|name| name != COUNTER) {
            match instance.get_export(&mut store, &name).unwrap() {
                Extern::Func(function) => functions.push((name, function)),
                Extern::Memory(found) => memory = Some(found),
                Extern::Global(global) => globals.push(global),
                _ => {}
            }
        }
        Some(Self { store, instance, functions, memory, globals })
    }

    fn text(wat: &str, budget: u64) -> Self {
        let engine = engine::runner(Metering::Loops).unwrap();
        let wasm = rewrite(&wat::parse_str(wat).unwrap()).unwrap();
        Self::start(&engine, &wasm, budget).unwrap()
    }

    fn call(&mut self, function: Func, draw: &mut Draw) -> wasmtime::Result<Vec<Val>> {
        let kind = function.ty(&self.store);
        let arguments: Vec<Val> = kind.params().map(|kind| draw.value(&kind)).collect();
        let mut results: Vec<Val> = kind.results().map(|_| Val::I32(0)).collect();
        function.call(&mut self.store, &arguments, &mut results).map(|()| results)
    }

    fn run(&mut self, name: &str, arguments: &[i32]) -> wasmtime::Result<()> {
        let arguments: Vec<Val> = arguments.iter().map(|value| Val::I32(*value)).collect();
        let function = self.instance.get_func(&mut self.store, name).unwrap();
        let mut results: Vec<Val> = function.ty(&self.store).results().map(|_| Val::I32(0)).collect();
        function.call(&mut self.store, &arguments, &mut results)
    }

    /// Why a call ended that did so at a count.
    fn stop(&self, error: &wasmtime::Error) -> Option<Stop> {
        let guest = self.store.data();
        (error.downcast_ref::<Trap>() == Some(&COUNTED_OUT)).then(|| guest.meter.stop(&guest.watch)).flatten()
    }

    fn used(&mut self, budget: u64) -> u64 {
        budget - left(&mut self.store).unwrap()
    }

    /// All that later calls could see.
    fn state(&mut self) -> (Option<blake3::Hash>, Vec<String>) {
        let memory = self.memory.map(|memory| blake3::hash(memory.data(&self.store)));
        (memory, self.globals.clone().iter().map(|global| plain(&global.get(&mut self.store))).collect())
    }
}

/// Numbers as they are; of references that there is one.
fn plain(value: &Val) -> String {
    match value {
        Val::I32(_) | Val::I64(_) | Val::F32(_) | Val::F64(_) | Val::V128(_) => format!("{value:?}"),
        _ => String::from("a reference"),
    }
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn value(&mut self, kind: &wasmtime::ValType) -> Val {
        let drawn = self.next();
        // Small numbers reach more code than large ones.
        let drawn = if self.next().is_multiple_of(2) { drawn % 64 } else { drawn };
        match kind {
            wasmtime::ValType::I32 => Val::I32(drawn as i32),
            wasmtime::ValType::I64 => Val::I64(drawn as i64),
            wasmtime::ValType::F32 => Val::F32(drawn as u32),
            wasmtime::ValType::F64 => Val::F64(drawn),
            kind => Val::default_for_ty(kind).unwrap_or(Val::I32(0)),
        }
    }
}

fn random_module(seed: u64) -> Option<Vec<u8>> {
    let mut draw = Draw(seed);
    let bytes: Vec<u8> = (0..1024).flat_map(|_| draw.next().to_le_bytes()).collect();
    let config = wasm_smith::Config {
        canonicalize_nans: true,
        export_everything: true,
        min_types: 2,
        min_imports: 1,
        min_funcs: 3,
        max_funcs: 12,
        min_globals: 1,
        min_memories: 1,
        max_memory32_bytes: 4 << 20,
        allow_start_export: false,
        max_instructions: 200,
        max_tables: 2,
        max_table_elements: 1000,
        gc_enabled: false,
        memory64_enabled: false,
        threads_enabled: false,
        relaxed_simd_enabled: false,
        ..wasm_smith::Config::default()
    };
    wasm_smith::Module::new(config, &mut Unstructured::new(&bytes)).ok().map(|module| module.to_bytes())
}

#[derive(Default, Debug)]
struct Seen {
    refused: u32,
    calls: u32,
    traps: u32,
    ended: u32,
}

/// Runs every export of a module both ways. Stops at what the two may do differently: the end of a budget or of the stack.
fn compare(seed: u64, plain_engine: &Engine, counted_engine: &Engine, seen: &mut Seen) {
    let Some(wasm) = random_module(seed) else { return };
    let Ok(counted) = rewrite(&wasm) else {
        seen.refused += 1;
        return;
    };
    let start = |engine, wasm: &[u8]| Machine::start(engine, wasm, OPERATORS);
    let (Some(mut one), Some(mut other)) = (start(plain_engine, &wasm), start(counted_engine, &counted)) else {
        seen.refused += 1;
        return;
    };
    for at in 0..one.functions.len() {
        let (name, function) = one.functions[at].clone();
        let twin = other.functions.iter().find(|(twin, _)| *twin == name).expect("the same exports").1;
        one.store.set_fuel(OPERATORS).unwrap();
        begin(&mut other.store, OPERATORS).unwrap();
        let (expected, got) = (one.call(function, &mut Draw(seed)), other.call(twin, &mut Draw(seed)));
        let trap = |result: &wasmtime::Result<Vec<Val>>| {
            result.as_ref().err().map(|error| error.downcast_ref::<Trap>().copied())
        };
        let (expected_trap, got_trap) = (trap(&expected), trap(&got));
        let stop = got.as_ref().err().and_then(|error| other.stop(error));
        let ends = [Some(Some(Trap::OutOfFuel)), Some(Some(Trap::StackOverflow))];
        if ends.contains(&expected_trap) || got_trap == ends[1] || stop.is_some() {
            seen.ended += 1;
            return;
        }
        assert_eq!(expected_trap, got_trap, "seed {seed}, {name}");
        seen.traps += u32::from(expected_trap.is_some());
        seen.calls += 1;
        if let (Ok(expected), Ok(got)) = (expected, got) {
            let plain = |values: Vec<Val>| values.iter().map(plain).collect::<Vec<_>>();
            assert_eq!(plain(expected), plain(got), "seed {seed}, {name}");
        }
        assert_eq!(one.state(), other.state(), "seed {seed}, after {name}");
    }
}

#[test]
fn random_modules_compute_what_they_did() {
    // Programs may recurse as deep as the engine lets them.
    stay_on_worker(|| {
        let plain_engine = engine::runner(Metering::Wasmtime).unwrap();
        let counted_engine = engine::runner(Metering::Loops).unwrap();
        let first = blake3::hash(format!("{:?}", Instant::now()).as_bytes()).as_bytes()[0];
        let mut seen = Seen::default();
        // Most seeds are new in each run, and any failure names its own.
        for seed in (0..150).chain((0..150).map(|at| u64::from(first) << 32 | at)) {
            compare(seed, &plain_engine, &counted_engine, &mut seen);
        }
        println!("{seen:?}");
        assert!(seen.calls > 150 && seen.traps > 30 && seen.ended > 10, "too little was compared: {seen:?}");
    })
    .unwrap();
}

/// Calls itself twice, with no loop: 2^40 calls.
const TREE: &str = r#"
    (func $tree (export "tree") (param i32)
        (if (local.get 0) (then
            (call $tree (i32.sub (local.get 0) (i32.const 1)))
            (call $tree (i32.sub (local.get 0) (i32.const 1))))))"#;

/// The parts of a module that [`rewrite`] expects of every module, around some text.
fn module(text: &str) -> String {
    format!(r#"(module (import "host" "nothing" (func)) (memory (export "memory") 64) {text})"#)
}

#[test]
fn whatever_goes_on_for_ever_ends_with_the_budget() {
    // Programs may recurse as deep as the engine lets them.
    stay_on_worker(|| {
        let endless = [
            ("tree", TREE, 40),
            ("spin", r#"(func (export "spin") (param i32) (loop (br 0)))"#, 0),
            (
                "table",
                r#"(type $f (func (param i32))) (table funcref (elem $twice))
                   (func $twice (export "table") (param i32)
                       (if (local.get 0) (then
                           (call_indirect (type $f) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0))
                           (call_indirect (type $f) (i32.sub (local.get 0) (i32.const 1)) (i32.const 0)))))"#,
                40,
            ),
            (
                "reference",
                r#"(type $f (func (param i32))) (elem declare func $twice)
                   (func $twice (export "reference") (param i32)
                       (if (local.get 0) (then
                           (call_ref $f (i32.sub (local.get 0) (i32.const 1)) (ref.func $twice))
                           (call_ref $f (i32.sub (local.get 0) (i32.const 1)) (ref.func $twice)))))"#,
                40,
            ),
            (
                "turns",
                r#"(func $a (export "turns") (param i32) (return_call $b (local.get 0)))
                   (func $b (param i32) (return_call $a (local.get 0)))"#,
                0,
            ),
            ("chosen", r#"(func (export "chosen") (param i32) (loop $l (br_table 1 $l 1 (i32.const 1))))"#, 0),
            ("null", r#"(func (export "null") (param i32) (loop $l (drop (br_on_null $l (ref.null func)))))"#, 0),
            (
                "caught",
                r#"(tag $e) (func (export "caught") (param i32) (loop $l (try_table (catch_all $l) (throw $e))))"#,
                0,
            ),
            (
                "outer",
                r#"(func (export "outer") (param i32)
                       (loop $l (block (if (i32.eqz (local.get 0)) (then (br_if $l (i32.const 1)))))))"#,
                0,
            ),
            (
                "fills",
                r#"(func (export "fills") (param i32) (loop
                       (memory.fill (i32.const 0) (i32.const 7) (i32.const 4000000)) (br 0)))"#,
                0,
            ),
        ];
        for (name, text, argument) in endless {
            for budget in [0, 1, 1000, 100_000] {
                let mut machine = Machine::text(&module(text), budget);
                let error = machine.run(name, &[argument]).unwrap_err();
                assert_eq!(machine.stop(&error), Some(Stop::Fuel), "{name}: {error}");
                assert_eq!(left(&mut machine.store).unwrap(), 0, "{name}");
            }
        }
    })
    .unwrap();
}

/// Again and again, since an interruption that meets a program while it counts is lost and has to be repeated.
#[test]
fn a_deadline_and_a_cancel_end_what_would_go_on_for_ever() {
    // Programs may recurse as deep as the engine lets them.
    stay_on_worker(|| {
        let spin = r#"(func (export "spin") (param i32) (loop (br 0)))"#;
        let mut machine = Machine::text(&module(&format!("{TREE} {spin}")), u64::MAX);
        let watcher = Watcher::start(&engine::runner(Metering::Loops).unwrap()).unwrap();
        let mut run = |name, watch: Watch| {
            begin(&mut machine.store, u64::MAX).unwrap();
            machine.store.data_mut().watch = watch.clone();
            let _running = watcher.running(watch, machine.store.data().meter.counter());
            let error = machine.run(name, &[60]).unwrap_err();
            let used = machine.used(u64::MAX);
            assert!((1..1 << 40).contains(&used), "{used}");
            machine.stop(&error)
        };
        for name in ["spin", "tree"].into_iter().cycle().take(100) {
            let deadline = Instant::now() + Duration::from_millis(1);
            assert_eq!(run(name, Watch { deadline: Some(deadline), ..Watch::default() }), Some(Stop::Timeout));
        }
        for name in ["spin", "tree"] {
            let watch = Watch::default();
            watch.cancel.cancel();
            assert_eq!(run(name, watch), Some(Stop::Cancelled));
        }
    })
    .unwrap();
}

#[test]
fn what_is_counted_does_not_depend_on_the_budget() {
    let text = module(
        r#"(func (export "count") (param i32) (loop
        (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))"#,
    );
    for rounds in [1, 2, 100_000] {
        let needed = rounds as u64;
        for budget in [needed, needed + 1, 1 << 40, u64::MAX] {
            let mut machine = Machine::text(&text, budget);
            machine.run("count", &[rounds]).unwrap();
            assert_eq!(machine.used(budget), needed, "{rounds} rounds of {budget}");
        }
        let mut machine = Machine::text(&text, needed - 1);
        assert!(machine.run("count", &[rounds]).is_err(), "{rounds} rounds");
    }
}

#[test]
fn what_ends_by_itself_was_not_stopped() {
    let mut machine = Machine::text(&module(r#"(func (export "abort") unreachable)"#), 100);
    let error = machine.run("abort", &[]).unwrap_err();
    assert_eq!((error.downcast_ref(), machine.stop(&error)), (Some(&COUNTED_OUT), None));
}

#[test]
fn work_of_the_host_is_charged() {
    let mut machine = Machine::text(&module(TREE), 100_000);
    charge(&mut machine.store, 60_000).unwrap();
    assert_eq!(left(&mut machine.store).unwrap(), 40_000);
    machine.run("tree", &[10]).unwrap();
    assert_eq!(left(&mut machine.store).unwrap(), 40_000 - 2047);
    charge(&mut machine.store, u64::MAX).unwrap();
    assert_eq!(left(&mut machine.store).unwrap(), 0);
    assert!(machine.run("tree", &[0]).is_err());
}

/// Calls of `fill` and `copy` with lengths around a piece, and what memory must hold then, by the instruction's own words.
#[test]
fn bulk_moves_are_what_the_instructions_are() {
    let text = module(
        r#"(func (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
           (func (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))"#,
    );
    const SIZE: usize = 64 << 16;
    let start: Vec<u8> = (0..SIZE).map(|at| (at * 31 + at / 251) as u8).collect();
    let piece = 256 << 10;
    let lengths = [0, 1, 255, 256, 257, piece - 1, piece, piece + 1, 3 * piece + 77];
    let mut machine = Machine::text(&text, u64::MAX);
    let memory = machine.memory.unwrap();
    for length in lengths {
        for (to, from) in [(0, 5), (5, 0), (100, 100 + piece + 3), (100 + piece + 3, 100), (0, 2 * piece), (77, 77)] {
            memory.write(&mut machine.store, 0, &start).unwrap();
            machine.run("copy", &[to as i32, from as i32, length as i32]).unwrap();
            let mut expected = start.clone();
            expected.copy_within(from..from + length, to);
            assert!(memory.data(&machine.store) == expected, "copy {length} from {from} to {to}");
        }
        memory.write(&mut machine.store, 0, &start).unwrap();
        machine.run("fill", &[9, 0x1ff, length as i32]).unwrap();
        let mut expected = start.clone();
        expected[9..9 + length].fill(0xff);
        assert!(memory.data(&machine.store) == expected, "fill {length}");
    }
    memory.write(&mut machine.store, 0, &start).unwrap();
    for (name, arguments) in [
        ("fill", [SIZE as i32 - piece as i32, 1, piece as i32 + 1]),
        ("fill", [1, 1, -1]),
        ("copy", [0, 1, SIZE as i32]),
        ("copy", [1, 0, SIZE as i32]),
        ("copy", [-1, 0, -1]),
    ] {
        let error = machine.run(name, &arguments).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::MemoryOutOfBounds), "{name} {arguments:?}");
        assert!(memory.data(&machine.store) == start, "{name} {arguments:?} has written");
    }
}

#[test]
fn every_hint_names_the_branch_of_a_count() {
    let wasm = rewrite(&wat::parse_str(module(TREE)).unwrap()).unwrap();
    let (mut hints, mut bodies) = (Vec::new(), Vec::new());
    for payload in wasmparser::Parser::new(0).parse_all(&wasm) {
        match payload.unwrap() {
            wasmparser::Payload::CustomSection(section) => {
                let wasmparser::KnownCustom::BranchHints(reader) = section.as_known() else {
                    panic!("{}", section.name())
                };
                hints.extend(reader.into_iter().map(Result::unwrap));
            }
            wasmparser::Payload::CodeSectionEntry(body) => bodies.push(body),
            _ => {}
        }
    }
    assert_eq!(hints.len(), 3, "one function counts its entry, and two move memory");
    for function in hints {
        // The import comes first.
        let body = &bodies[function.func as usize - 1];
        for hint in function.hints {
            let hint = hint.unwrap();
            let mut reader = body.get_operators_reader().unwrap();
            let branch = loop {
                let (operator, at) = reader.read_with_offset().unwrap();
                if at - body.range().start as u64 as usize == hint.func_offset as usize {
                    break operator;
                }
            };
            assert!(matches!(branch, wasmparser::Operator::If { .. }) && !hint.taken, "{branch:?}");
        }
    }
}

#[test]
fn what_cannot_be_counted_is_refused_by_name() {
    for (text, why) in [
        (r#"(table 1 funcref) (func (table.fill (i32.const 0) (ref.null func) (i32.const 1)))"#, "table.fill"),
        (r#"(data "x") (func (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 1)))"#, "memory.init"),
        ("(memory 1) (func)", "one memory"),
        ("(func) (start 1)", "a start function"),
    ] {
        let error = rewrite(&wat::parse_str(module(&format!("{text} (export \"f\" (func 1))"))).unwrap()).unwrap_err();
        assert!(format!("{error:?}").contains(why), "{error:?}");
    }
    for text in ["(memory i64 1)", r#"(import "host" "memory" (memory 1))"#] {
        let error = rewrite(&wat::parse_str(format!("(module {text} (func (export \"f\")))")).unwrap()).unwrap_err();
        assert!(format!("{error:?}").contains("one memory"), "{error:?}");
    }
}
