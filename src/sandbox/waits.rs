//! Makes waiting for a lock that is held an error of the program, or a sleep, in the wheel's interpreter.
//!
//! One thread runs in there, so such a lock stays held, and its C library traps in the wait, be it one with a time
//! limit: the cell would end as crashed. So each of two functions gets a few instructions before its own, found by the
//! names that the wheel keeps:
//!
//! * `_PySemaphore_Wait(semaphore, timeout)`, at which all waits of Python's locks and simple queues arrive. Without a
//!   timeout it raises a signal in the interpreter and returns as one that a signal interrupted; the signal's handler
//!   (`python-runtime/_slm_alone.py`) then raises what the program sees.
//! * `__wasilibc_futex_wait(address, value, clock, until, flags)`: with a time it sleeps until then and returns as one
//!   whose time is over.

use std::collections::HashMap;

use wasm_encoder::{BlockType, CodeSection, Encode, Instruction, Module, RawSection};
use wasmparser::{BinaryReader, CodeSectionReader, FunctionBody, KnownCustom, Name, Parser, Payload, TypeRef};

use crate::error::OrInternal;
use crate::{Error, Result};

/// The signal's number, `DEADLOCK` in `_slm_alone.py`.
const DEADLOCK: i32 = 16;
/// `Py_PARK_INTR` of `pycore_parking_lot.h`.
const INTERRUPTED: i32 = -3;
/// `TIMER_ABSTIME` and the negated `ETIMEDOUT` of wasi-libc.
const ABSOLUTE: i32 = 1;
const TIMED_OUT: i32 = -73;

const WAIT: &str = "_PySemaphore_Wait";
const FUTEX: &str = "__wasilibc_futex_wait";
const RAISE: &str = "PyErr_SetInterruptEx";
const SLEEP: &str = "clock_nanosleep";

/// The interpreter whose waits end.
pub(super) fn mend(wasm: &[u8]) -> Result<Vec<u8>> {
    let found = names(wasm)?;
    let index = |name| found.get(name).copied().ok_or_else(|| Error::internal(format_args!("no function {name}")));
    let prefixes = HashMap::from([(index(WAIT)?, wait(index(RAISE)?)), (index(FUTEX)?, futex(index(SLEEP)?))]);
    insert(wasm, &prefixes)
}

fn wait(raise: u32) -> Vec<Instruction<'static>> {
    use Instruction as I;
    vec![
        I::LocalGet(1),
        I::I64Const(0),
        I::I64LtS,
        I::If(BlockType::Empty),
        I::I32Const(DEADLOCK),
        I::Call(raise),
        I::Drop,
        I::I32Const(INTERRUPTED),
        I::Return,
        I::End,
    ]
}

fn futex(sleep: u32) -> Vec<Instruction<'static>> {
    use Instruction as I;
    vec![
        I::LocalGet(3),
        I::If(BlockType::Empty),
        I::LocalGet(2),
        I::I32Const(ABSOLUTE),
        I::LocalGet(3),
        I::I32Const(0),
        I::Call(sleep),
        I::Drop,
        I::I32Const(TIMED_OUT),
        I::Return,
        I::End,
    ]
}

/// The indices of the functions that have a part here.
fn names(wasm: &[u8]) -> Result<HashMap<&'static str, u32>> {
    let doing = "reading the interpreter's names";
    let mut found = HashMap::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::CustomSection(section) = payload.or_internal(doing)? else { continue };
        let KnownCustom::Name(parts) = section.as_known() else { continue };
        for part in parts {
            let Name::Function(map) = part.or_internal(doing)? else { continue };
            for naming in map {
                let naming = naming.or_internal(doing)?;
                if let Some(name) = [WAIT, FUTEX, RAISE, SLEEP].into_iter().find(|name| *name == naming.name) {
                    found.insert(name, naming.index);
                }
            }
        }
    }
    Ok(found)
}

/// The module with instructions before those of some of its functions, which are named by their indices.
fn insert(wasm: &[u8], prefixes: &HashMap<u32, Vec<Instruction<'_>>>) -> Result<Vec<u8>> {
    let doing = "mending the interpreter's waits";
    let (mut module, mut imported) = (Module::new(), 0);
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.or_internal(doing)?;
        if let Payload::ImportSection(imports) = &payload {
            for import in imports.clone().into_imports() {
                imported += u32::from(matches!(import.or_internal(doing)?.ty, TypeRef::Func(_)));
            }
        }
        match (&payload, payload.as_section()) {
            (Payload::CodeSectionStart { range, .. }, _) => {
                module.section(&code(&wasm[range.clone()], imported, prefixes).or_internal(doing)?);
            }
            (_, Some((id, range))) => {
                module.section(&RawSection { id, data: &wasm[range] });
            }
            (_, None) => {}
        }
    }
    Ok(module.finish())
}

fn code(
    section: &[u8],
    imported: u32,
    prefixes: &HashMap<u32, Vec<Instruction<'_>>>,
) -> wasmparser::Result<CodeSection> {
    let mut code = CodeSection::new();
    for (index, body) in (imported..).zip(CodeSectionReader::new(BinaryReader::new(section, 0))?) {
        let body = body?;
        let Some(prefix) = prefixes.get(&index) else {
            code.raw(body.as_bytes());
            continue;
        };
        let (locals, own) = body.as_bytes().split_at(locals(&body)?);
        let mut longer = locals.to_vec();
        prefix.iter().for_each(|instruction| instruction.encode(&mut longer));
        longer.extend_from_slice(own);
        code.raw(&longer);
    }
    Ok(code)
}

/// The length of what stands before a function's instructions.
fn locals(body: &FunctionBody<'_>) -> wasmparser::Result<usize> {
    let mut locals = body.get_locals_reader()?;
    for _ in 0..locals.get_count() {
        locals.read()?;
    }
    Ok(locals.original_position() - body.range().start)
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        ConstExpr, EntityType, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
        ImportSection, NameMap, NameSection, TypeSection, ValType as V,
    };
    use wasmtime::{Instance, Linker, Store, Val};

    use super::super::engine;
    use super::*;

    const OWN: i32 = 7;

    /// The four functions, each of which says what it was called with in a global, and returns [`OWN`].
    fn interpreter(names: &[&str; 4]) -> Vec<u8> {
        use Instruction as I;
        let mut types = TypeSection::new();
        let params: [&[V]; 4] = [&[V::I32, V::I64], &[V::I32; 5], &[V::I32], &[V::I32; 4]];
        let (mut functions, mut exports, mut code, mut map) =
            (FunctionSection::new(), ExportSection::new(), CodeSection::new(), NameMap::new());
        types.ty().function([], []);
        for (at, (params, name)) in (0..).zip(params.into_iter().zip(names)) {
            types.ty().function(params.iter().copied(), [V::I32]);
            functions.function(at + 1);
            exports.export(name, ExportKind::Func, at + 1);
            map.append(at + 1, name);
            let mut function = Function::new([(3, V::I64), (1, V::F32)]);
            // The two that are called note their last but one argument, or their only one.
            let noted = [None, None, Some(0), Some(2)][at as usize];
            if let Some(noted) = noted {
                function.instruction(&I::LocalGet(noted)).instruction(&I::GlobalSet(0));
            }
            function.instruction(&I::I32Const(OWN)).instruction(&I::End);
            code.function(&function);
        }
        let mut imports = ImportSection::new();
        imports.import("host", "nothing", EntityType::Function(0));
        let mut globals = GlobalSection::new();
        globals.global(GlobalType { val_type: V::I32, mutable: true, shared: false }, &ConstExpr::i32_const(0));
        exports.export("noted", ExportKind::Global, 0);
        let mut naming = NameSection::new();
        naming.functions(&map);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&globals).section(&exports);
        module.section(&code).section(&naming);
        module.finish()
    }

    /// What a call of the mended module returns, and what was noted.
    fn call(name: &str, arguments: &[Val]) -> (i32, i32) {
        let engine = engine::runner(crate::Metering::Wasmtime).unwrap();
        let module = wasmtime::Module::new(&engine, mend(&interpreter(&[WAIT, FUTEX, RAISE, SLEEP])).unwrap()).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(1 << 30);
        store.set_fuel(1 << 30).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "nothing", || ()).unwrap();
        let instance: Instance = linker.instantiate(&mut store, &module).unwrap();
        let mut result = [Val::I32(0)];
        instance.get_func(&mut store, name).unwrap().call(&mut store, arguments, &mut result).unwrap();
        let noted = instance.get_global(&mut store, "noted").unwrap().get(&mut store);
        (result[0].unwrap_i32(), noted.unwrap_i32())
    }

    #[test]
    fn a_wait_without_a_time_is_interrupted_by_the_signal() {
        assert_eq!(call(WAIT, &[Val::I32(1), Val::I64(-1)]), (INTERRUPTED, DEADLOCK));
        assert_eq!(call(WAIT, &[Val::I32(1), Val::I64(0)]), (OWN, 0), "one with a time goes on to the futex");
    }

    #[test]
    fn a_wait_with_a_time_sleeps() {
        let arguments = |until| [1, 2, 3, until, 5].map(Val::I32);
        assert_eq!(call(FUTEX, &arguments(44)), (TIMED_OUT, 44));
        assert_eq!(call(FUTEX, &arguments(0)), (OWN, 0));
    }

    #[test]
    fn another_interpreter_is_refused() {
        let error = mend(&interpreter(&[WAIT, FUTEX, "other", SLEEP])).unwrap_err();
        assert!(format!("{error:?}{error}").contains(RAISE), "{error:?}");
        assert!(mend(b"\0asm").is_err());
    }
}
