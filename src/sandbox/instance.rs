//! One interpreter: a store and an instance of the image, entered through the exported `turn`.

use std::time::{Duration, Instant};

use wasmtime::{ExternType, Global, InstancePre, Memory, Module, Mutability, Store, Trap, TypedFunc, Val, ValType};

use super::guest::{Exit, Guest, Stop, World, at_tick};
use super::memory::{Finder, Pages, Watched};
use super::metering::{self, COUNTED_OUT, COUNTER, Meter};
use super::options::Told;
use super::output::Printed;
use super::state::{Machine, WASM_PAGE};
use super::watcher::Watcher;
use super::wire::Inbox;
use crate::error::OrInternal;
use crate::{Cancel, Error, Limits, Result};

pub(super) struct Instance {
    pub(super) store: Store<Guest>,
    instance: wasmtime::Instance,
    memory: Memory,
    /// Every global that can change: the image exports them for this (see `snapshot`).
    globals: Vec<Global>,
    watched: Option<Watched>,
    host_alloc: TypedFunc<u32, u32>,
    turn: TypedFunc<(u32, u32), i32>,
}

/// How a turn came to its end, as the host saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The entry point came back: 0, or 1 after an exception nobody caught.
    Returned(i32),
    /// `proc_exit`: the instance is dead.
    Exited(i32),
    Timeout,
    Fuel,
    /// A trap after memory was refused.
    Memory,
    Crashed(String),
    Cancelled,
}

impl End {
    /// Whether the interpreter can be entered again.
    pub(super) fn is_alive(&self) -> bool {
        matches!(self, Self::Returned(_))
    }
}

/// What a turn did.
pub(super) struct Turn {
    pub(super) end: End,
    pub(super) stdout: Printed,
    pub(super) stderr: Printed,
    pub(super) inbox: Inbox,
    /// The guest's time.
    pub(super) wall: Duration,
    /// The machine's.
    pub(super) machine: Duration,
    pub(super) fuel: u64,
}

impl Instance {
    /// Instantiates and runs nothing yet.
    pub(super) fn new(pre: &InstancePre<Guest>, guest: Guest) -> Result<Self> {
        let mut store = Store::new(pre.module().engine(), guest);
        store.limiter(|guest| &mut guest.growth);
        store.epoch_deadline_callback(at_tick);
        store.set_epoch_deadline(1);
        let instance = pre.instantiate(&mut store).or_internal("starting Python")?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or("no memory").or_internal("the image is not ours")?;
        store.data_mut().memory = Some(memory);
        store.data_mut().meter = Meter::of(instance.get_shared_memory(&mut store, COUNTER));
        metering::begin(&mut store, u64::MAX).or_internal("starting Python")?;
        let host_alloc = instance.get_typed_func(&mut store, "host_alloc").or_internal("the image is not ours")?;
        let turn = instance.get_typed_func(&mut store, "turn").or_internal("the image is not ours")?;
        let globals: Vec<_> = instance.exports(&mut store).filter_map(|export| export.into_global()).collect();
        let globals = globals.into_iter().filter(|global| global.ty(&store).mutability() == Mutability::Var).collect();
        Ok(Self { store, instance, memory, globals, watched: None, host_alloc, turn })
    }

    /// Makes one that was made for nobody that of a session: it has the session's world and limits from now on.
    pub(super) fn hand_over(&mut self, world: World, limits: &Limits) {
        self.store.data_mut().hand_over(world, limits);
    }

    /// Calls one of the exports that take and return nothing.
    pub(super) fn call(&mut self, export: &str) -> Result<()> {
        let doing = format_args!("calling {export}");
        let function = self.instance.get_typed_func::<(), ()>(&mut self.store, export).or_internal(doing)?;
        function.call(&mut self.store, ()).or_internal(doing)
    }

    pub(super) fn wasm_instance(&self) -> wasmtime::Instance {
        self.instance
    }

    /// What the interpreter has outside its memory.
    pub(super) fn world(&self) -> &World {
        &self.store.data().world
    }

    pub(super) fn world_mut(&mut self) -> &mut World {
        &mut self.store.data_mut().world
    }

    /// Bytes of linear memory.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory.data_size(&self.store) as u64
    }

    /// Before anything runs.
    pub(super) fn show_fresh(&self, finder: &Finder) {
        finder.see_fresh(self.memory.data(&self.store));
    }

    /// What the interpreter has become since it was instantiated; `None` when the system does not tell.
    pub(super) fn capture(&mut self, finder: &Finder, told: Told) -> Option<Machine> {
        let pages = finder.copy(self.memory.data(&self.store))?;
        Some(self.machine(pages, told))
    }

    /// The same, again and again: `kept` are the pages of the last time.
    pub(super) fn keep(&mut self, finder: &Finder, mut kept: Pages, told: Told) -> Option<Machine> {
        finder.keep(self.memory.data(&self.store), &mut kept, &mut self.watched)?;
        Some(self.machine(kept, told))
    }

    fn machine(&mut self, pages: Pages, told: Told) -> Machine {
        let globals = self.globals.iter().map(|global| bits(&global.get(&mut self.store))).collect();
        let Told { displays, packages } = told;
        Machine { bytes: self.memory_bytes(), globals, pages, displays, packages }
    }

    /// Makes an instance that has run nothing what another one was.
    pub(super) fn resume(&mut self, machine: &Machine) -> Result<()> {
        if machine.globals.len() != self.globals.len() {
            return Err(Error::internal("the session's globals are not the image's"));
        }
        let missing = machine.bytes.saturating_sub(self.memory_bytes()) / WASM_PAGE;
        self.memory.grow(&mut self.store, missing).map_err(|_| {
            Error::busy("there is no memory left to go on with the session")
                .advise("end sessions that are no longer used, or raise Capacity::memory")
        })?;
        let put = machine.pages.put_into(self.memory.data_mut(&mut self.store));
        put.ok_or("it is too small").or_internal("restoring a session's memory")?;
        for (global, bits) in self.globals.iter().zip(&machine.globals) {
            let value = value(*bits, global.ty(&self.store).content());
            global.set(&mut self.store, value).or_internal("restoring a session's globals")?;
        }
        Ok(())
    }

    /// Runs one string of Python in `__main__`, for at most `wall` of the machine's time and `fuel`, until `cancel`.
    pub(super) fn turn(
        &mut self,
        code: &str,
        wall: Duration,
        fuel: Option<u64>,
        cancel: &Cancel,
        watcher: &Watcher,
    ) -> Result<Turn> {
        let budget = fuel.unwrap_or(u64::MAX);
        metering::begin(&mut self.store, budget).or_internal("starting a cell")?;
        let guest = self.store.data_mut();
        let started = Instant::now();
        guest.watch.deadline = started.checked_add(wall);
        guest.watch.cancel = cancel.clone();
        guest.growth.refused = false;
        guest.world.clock.begin(budget);
        let began = guest.world.clock.monotonic(budget);
        guest.inbox.take();
        let returned = {
            let _running = watcher.running(guest.watch.clone(), guest.meter.counter());
            self.enter(code)
        };
        let end = match returned {
            Ok(code) => End::Returned(code),
            Err(error) => classify(&error, self.store.data()),
        };
        let machine = started.elapsed();
        let left = metering::left(&mut self.store).or_internal("counting fuel")?;
        let guest = self.store.data_mut();
        let ended = guest.world.clock.monotonic(left);
        guest.world.clock.end(left);
        Ok(Turn {
            end,
            stdout: guest.stdout.take(),
            stderr: guest.stderr.take(),
            inbox: guest.inbox.take(),
            wall: Duration::from_nanos(ended.saturating_sub(began)),
            machine,
            fuel: budget - left,
        })
    }

    fn enter(&mut self, code: &str) -> wasmtime::Result<i32> {
        let len = u32::try_from(code.len())?;
        let at = self.host_alloc.call(&mut self.store, len)?;
        if at == 0 {
            return Err(NoRoom.into());
        }
        self.memory.write(&mut self.store, at as usize, code.as_bytes())?;
        self.turn.call(&mut self.store, (at, len))
    }
}

/// The guest has no memory left for the source of a cell.
#[derive(Debug)]
struct NoRoom;

impl std::fmt::Display for NoRoom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no memory for the cell's source")
    }
}

impl std::error::Error for NoRoom {}

/// Names the reason from the trap and from what the host knows; nothing the guest says comes into it.
fn classify(error: &wasmtime::Error, guest: &Guest) -> End {
    if let Some(exit) = error.downcast_ref::<Exit>() {
        return End::Exited(exit.0);
    }
    let trap = error.downcast_ref::<Trap>();
    let at_a_count = if trap == Some(&COUNTED_OUT) { guest.meter.stop(&guest.watch) } else { None };
    match error.downcast_ref::<Stop>().copied().or(at_a_count) {
        Some(Stop::Timeout) => return End::Timeout,
        Some(Stop::Cancelled) => return End::Cancelled,
        Some(Stop::Fuel) => return End::Fuel,
        None => {}
    }
    match trap {
        Some(Trap::OutOfFuel) => End::Fuel,
        _ if guest.growth.refused || error.is::<NoRoom>() => End::Memory,
        Some(trap) => End::Crashed(trap.to_string()),
        None => End::Crashed(error.root_cause().to_string()),
    }
}

/// A number's bits; `prepare` lets no image through whose globals are anything else.
fn bits(value: &Val) -> u64 {
    match *value {
        Val::I32(value) => u64::from(value.cast_unsigned()),
        Val::I64(value) => value.cast_unsigned(),
        Val::F32(bits) => bits.into(),
        Val::F64(bits) => bits,
        _ => 0,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half holds all of a 32-bit number")]
fn value(bits: u64, kind: &ValType) -> Val {
    match kind {
        ValType::I32 => Val::I32((bits as u32).cast_signed()),
        ValType::F32 => Val::F32(bits as u32),
        ValType::F64 => Val::F64(bits),
        _ => Val::I64(bits.cast_signed()),
    }
}

/// Links the image once, so that an instance is made without looking anything up.
///
/// # Errors
/// An image that asks for more than there is, or whose state could not be kept: a global that changes is no number.
pub(super) fn prepare(module: &Module) -> Result<InstancePre<Guest>> {
    let number = |kind: &ValType| matches!(kind, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64);
    for export in module.exports() {
        if let ExternType::Global(global) = export.ty()
            && global.mutability() == Mutability::Var
            && !number(global.content())
        {
            let text = format!("the global {} is a {}", export.name(), global.content());
            return Err(Error::internal(text).context("linking the image"));
        }
    }
    let linker = super::wasi::linker(module.engine()).or_internal("linking the image")?;
    linker.instantiate_pre(module).or_internal("linking the image")
}

#[cfg(test)]
mod tests {
    use wasm_encoder as encoder;

    use super::super::engine;
    use super::*;
    use crate::Metering;

    /// A module that exports one global.
    fn module(kind: encoder::ValType, mutable: bool, value: &encoder::ConstExpr) -> Module {
        let mut globals = encoder::GlobalSection::new();
        globals.global(encoder::GlobalType { val_type: kind, mutable, shared: false }, value);
        let mut exports = encoder::ExportSection::new();
        exports.export("state", encoder::ExportKind::Global, 0);
        let mut module = encoder::Module::new();
        module.section(&globals).section(&exports);
        Module::new(&engine::runner(Metering::default()).unwrap(), module.finish()).unwrap()
    }

    #[test]
    fn globals_that_change_are_numbers() {
        use encoder::{ConstExpr, RefType, ValType};
        let numbers = [
            (ValType::I32, ConstExpr::i32_const(1)),
            (ValType::I64, ConstExpr::i64_const(1)),
            (ValType::F32, ConstExpr::f32_const(1.0.into())),
            (ValType::F64, ConstExpr::f64_const(1.0.into())),
        ];
        for (kind, value) in numbers {
            assert!(prepare(&module(kind, true, &value)).is_ok(), "{kind:?}");
        }
        let function = ConstExpr::ref_null(encoder::HeapType::FUNC);
        for (kind, value) in [(ValType::V128, ConstExpr::v128_const(1)), (ValType::Ref(RefType::FUNCREF), function)] {
            let error = prepare(&module(kind, true, &value)).err().expect("it cannot be kept");
            assert!(error.to_string().contains("the global state is a "), "{error}");
            assert!(!error.is_usage(), "{error}");
            assert!(prepare(&module(kind, false, &value)).is_ok(), "what never changes need not be kept: {kind:?}");
        }
    }
}
