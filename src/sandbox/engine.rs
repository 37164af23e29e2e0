//! The one wasmtime engine: its settings, and the ticker that makes running cells look at the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::{CacheStore, Collector, Config, Engine};

use crate::error::OrInternal;
use crate::{Error, Metering, Result};

/// How deep wasm may recurse. CPython's own recursion tests trap at 8 MiB and end in `RecursionError` at this size; it
/// is address space, not memory. The worker's stack (see `worker`) is larger by what the host's frames need.
pub(super) const WASM_STACK: usize = 64 << 20;

/// How often a running cell looks at its deadline and at its cancel handle.
const TICK: Duration = Duration::from_millis(5);

/// Ticks without a running cell before the ticker goes to sleep, so that a quick succession of cells need not wake it.
const IDLE_TICKS: usize = 40;

/// Everything that decides what the compiled code looks like is set here and nowhere else.
///
/// Instances are allocated on demand. Wasmtime's pooling allocator was measured against it with this image, in processor
/// time (the pool's divided by ours; 16 to 1,002 slots made no difference):
///
/// | the pool keeps | fresh `print(1)`, 1 thread | 2 threads | creating 1,000 sessions with a data frame |
/// |---|---|---|---|
/// | nothing (`madvise` resets a slot) | 1.0 | 1.0 | 1.1 |
/// | up to 4 MiB or all, found by `pagemap_scan` | 0.6 | 0.65 | 1.1 |
///
/// Only the second would pay, and it must not be used: the scan asks for pages that are present, so what the system has
/// swapped out of a slot is neither reset nor dropped, and the next session would read it. Without the scan, keeping
/// pages means copying the lowest ones whether they were written or not. The pool would also bound the number of
/// instances by what is reserved at the start, and charge the heap of exceptions as a second memory each.
fn config(metering: Metering) -> Config {
    let wasmtime = metering == Metering::Wasmtime;
    let mut config = Config::new();
    config
        .consume_fuel(wasmtime)
        .epoch_interruption(wasmtime)
        // Our counter says which of its branches is never taken.
        .wasm_branch_hinting(!wasmtime)
        .max_wasm_stack(WASM_STACK)
        // Nothing here is asynchronous, but wasmtime refuses one that is smaller.
        .async_stack_size(WASM_STACK)
        // setjmp/longjmp in the interpreter's C libraries are wasm exceptions; nothing allocates enough to collect.
        .wasm_exceptions(true)
        .collector(Collector::Null)
        // A trap is classified by its code; nobody reads addresses or native frames, and they are 80 MB of the image.
        .generate_address_map(false)
        .wasm_backtrace_max_frames(None)
        .native_unwind_info(false)
        .memory_init_cow(true);
    config
}

/// An engine to run images with. It compiles nothing.
pub(super) fn runner(metering: Metering) -> Result<Engine> {
    Engine::new(&config(metering)).or_internal("starting wasmtime")
}

/// An engine that builds images; both compilations of a build share `cache`, since nearly all functions are the same.
pub(super) fn compiler(metering: Metering, cache: Arc<dyn CacheStore>) -> Result<Engine> {
    let mut config = config(metering);
    config.enable_incremental_compilation(cache).or_internal("starting the compiler")?;
    Engine::new(&config).or_internal("starting the compiler")
}

/// Increments the engine's epoch while at least one cell runs; its thread ends when the last owner drops it.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    parked: AtomicBool,
    ended: AtomicBool,
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = thread::Builder::new()
            .name("epoch-ticker".into())
            .spawn({
                let (engine, shared) = (engine.clone(), shared.clone());
                move || tick(&engine, &shared)
            })
            .map_err(|error| Error::internal(error).context("starting the clock thread"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Ticks until the returned guard is dropped.
    pub(super) fn running(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst) {
            self.wake();
        }
        Running(&self.shared)
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

pub(super) struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that can panic, and a drop has nobody to tell.
            let _ = thread.join();
        }
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle = 0;
    while !shared.ended.load(Ordering::SeqCst) {
        if shared.running.load(Ordering::SeqCst) > 0 {
            idle = 0;
        } else {
            idle += 1;
        }
        if idle < IDLE_TICKS {
            thread::park_timeout(TICK);
            engine.increment_epoch();
            continue;
        }
        shared.parked.store(true, Ordering::SeqCst);
        // A cell that began between the look above and the store has not seen the flag: look once more.
        if shared.running.load(Ordering::SeqCst) == 0 && !shared.ended.load(Ordering::SeqCst) {
            thread::park();
        }
        shared.parked.store(false, Ordering::SeqCst);
        idle = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use wasmtime::{Instance, Module, Store, Trap};

    /// Runs `(loop br 0)` under a deadline of a few ticks and expects the interruption.
    fn spin_until_interrupted(engine: &Engine, ticker: &Ticker) {
        // (module (func (export "spin") (loop br 0)))
        let wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x08\x01\x04spin\0\0\x0a\x09\x01\x07\0\x03\x40\x0c\0\x0b\x0b";
        let module = Module::new(engine, wasm).unwrap();
        let mut store = Store::new(engine, ());
        store.set_fuel(u64::MAX).unwrap();
        store.set_epoch_deadline(3);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let spin = instance.get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        let _running = ticker.running();
        let error = spin.call(&mut store, ()).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    }

    #[test]
    fn ticks_for_a_running_cell_also_after_it_slept() {
        let engine = runner(Metering::Wasmtime).unwrap();
        let ticker = Ticker::start(&engine).unwrap();
        spin_until_interrupted(&engine, &ticker);
        let asleep_by = Instant::now() + Duration::from_secs(60);
        while !ticker.shared.parked.load(Ordering::SeqCst) {
            assert!(Instant::now() < asleep_by, "the idle ticker never went to sleep");
            thread::yield_now();
        }
        spin_until_interrupted(&engine, &ticker);
    }
}
