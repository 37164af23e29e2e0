//! The thread that looks at the clock and at the cancel handles while cells run. What runs over its time it interrupts at
//! its counter; for programs that have none it advances wasmtime's epoch, at which they look for themselves.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wasmtime::Engine;

use super::guest::Watch;
use super::metering::Counter;
use crate::{Error, Result};

/// How often it looks.
const TICK: Duration = Duration::from_millis(5);
/// How soon it looks again at what it has interrupted: the program may not have seen it (see [`Counter::interrupt`]).
const AGAIN: Duration = Duration::from_micros(100);
/// Looks without a running cell before it goes to sleep, so that a quick succession of cells need not wake it.
const IDLE_LOOKS: usize = 40;

/// Its thread ends when it is dropped.
pub(super) struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    cells: Mutex<Cells>,
    changed: Condvar,
}

#[derive(Default)]
struct Cells {
    running: Vec<Cell>,
    /// The number of the next cell.
    next: u64,
    /// When it looks again; never while it sleeps.
    look: Option<Instant>,
    ended: bool,
}

struct Cell {
    number: u64,
    watch: Watch,
    counter: Option<Counter>,
}

impl Watcher {
    pub(super) fn start(engine: &Engine) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = thread::Builder::new()
            .name("watcher".into())
            .spawn({
                let (engine, shared) = (engine.clone(), shared.clone());
                move || shared.watch(&engine)
            })
            .map_err(|error| Error::internal(error).context("starting the clock thread"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Watches a cell until what is returned is dropped.
    pub(super) fn running(&self, watch: Watch, counter: Option<Counter>) -> Running<'_> {
        let mut cells = self.shared.lock();
        let number = cells.next;
        cells.next += 1;
        if cells.look.is_none_or(|look| watch.deadline.is_some_and(|deadline| deadline < look)) {
            self.shared.changed.notify_all();
        }
        cells.running.push(Cell { number, watch, counter });
        Running { shared: &self.shared, number }
    }
}

pub(super) struct Running<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let running = &mut self.shared.lock().running;
        if let Some(at) = running.iter().position(|cell| cell.number == self.number) {
            running.swap_remove(at);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread does nothing that can panic, and a drop has nobody to tell.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, engine: &Engine) {
        let (mut cells, mut idle) = (self.lock(), 0);
        while !cells.ended {
            engine.increment_epoch();
            let wait = cells.look();
            idle = if cells.running.is_empty() { idle + 1 } else { 0 };
            if idle < IDLE_LOOKS {
                cells.look = Some(Instant::now() + wait);
                (cells, _) = self.changed.wait_timeout(cells, wait).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            cells.look = None;
            cells = self
                .changed
                .wait_while(cells, |cells| cells.running.is_empty() && !cells.ended)
                .unwrap_or_else(PoisonError::into_inner);
            idle = 0;
        }
    }
}

impl Cells {
    /// Interrupts what must stop, and says when to look again.
    fn look(&self) -> Duration {
        let now = Instant::now();
        let wait = |cell: &Cell| match (cell.watch.check(), &cell.counter) {
            (Err(_), Some(counter)) => {
                counter.interrupt();
                AGAIN
            }
            (Err(_), None) => TICK,
            (Ok(()), _) => cell.watch.deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(now)),
        };
        self.running.iter().map(wait).fold(TICK, Duration::min)
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Instance, Module, Store, Trap};

    use super::super::engine;
    use super::*;
    use crate::Metering;

    /// Runs `(loop br 0)` under a deadline of a few ticks and expects the interruption.
    fn spin_until_interrupted(engine: &Engine, watcher: &Watcher) {
        // (module (func (export "spin") (loop br 0)))
        let wasm = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x08\x01\x04spin\0\0\x0a\x09\x01\x07\0\x03\x40\x0c\0\x0b\x0b";
        let module = Module::new(engine, wasm).unwrap();
        let mut store = Store::new(engine, ());
        store.set_fuel(u64::MAX).unwrap();
        store.set_epoch_deadline(3);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let spin = instance.get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        let _running = watcher.running(Watch::default(), None);
        let error = spin.call(&mut store, ()).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    }

    #[test]
    fn what_is_over_its_time_is_interrupted_and_nothing_else() {
        let counters = [(); 4].map(|()| Counter::spare());
        let now = Instant::now();
        let at = |deadline| Watch { deadline, ..Watch::default() };
        let cancelled = Watch::default();
        cancelled.cancel.cancel();
        let watches = [at(Some(now)), at(Some(now + Duration::from_secs(60))), at(None), cancelled];
        let mut cells = Cells::default();
        for (watch, counter) in watches.into_iter().zip(&counters) {
            cells.running.push(Cell { number: 0, watch, counter: Some(counter.clone()) });
        }
        assert_eq!(cells.look(), AGAIN);
        assert_eq!(counters.map(|counter| counter.is_interrupted()), [true, false, false, true]);
        cells.running.retain(|cell| cell.watch.check().is_ok());
        assert_eq!(cells.look(), TICK);
        cells.running[0].watch.deadline = Some(Instant::now() + TICK / 2);
        assert!(cells.look() < TICK);
    }

    #[test]
    fn advances_the_epoch_for_a_running_cell_also_after_it_slept() {
        let engine = engine::runner(Metering::Wasmtime).unwrap();
        let watcher = Watcher::start(&engine).unwrap();
        spin_until_interrupted(&engine, &watcher);
        let asleep_by = Instant::now() + Duration::from_secs(60);
        while watcher.shared.lock().look.is_some() {
            assert!(Instant::now() < asleep_by, "the idle watcher never went to sleep");
            thread::yield_now();
        }
        spin_until_interrupted(&engine, &watcher);
    }
}
