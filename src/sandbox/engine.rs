//! The one wasmtime engine and its settings.

use std::sync::Arc;

use wasmtime::{CacheStore, Collector, Config, Engine};

use crate::error::OrInternal;
use crate::{Metering, Result};

/// How deep wasm may recurse. CPython's own recursion tests trap at 8 MiB and end in `RecursionError` at this size; it
/// is address space, not memory. The worker's stack (see `worker`) is larger by what the host's frames need.
pub(super) const WASM_STACK: usize = 64 << 20;

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
        // Our counter says which of its branches is never taken, and is in a memory that two threads write to.
        .wasm_branch_hinting(!wasmtime)
        .wasm_threads(!wasmtime)
        .shared_memory(!wasmtime)
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
