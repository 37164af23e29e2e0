//! Threads with a stack deep enough for wasm. A cell runs on one of them, whichever thread asked for it.
//!
//! Python recursion is bounded by `engine::WASM_STACK`, which is more than an ordinary thread has; entering wasm on
//! such a thread would overflow the real stack instead of raising `RecursionError`. Idle workers are kept and reused.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::engine::WASM_STACK;
use crate::Result;
use crate::error::OrInternal;

/// What the host's own frames may use on top of wasm's.
const HOST_STACK: usize = 4 << 20;

/// Idle workers kept; more than this at once are ended when they have done their job.
const KEPT: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// The idle workers of one image.
#[derive(Default)]
pub(super) struct Workers {
    idle: Mutex<Vec<Sender<Job>>>,
}

thread_local! {
    static ON_WORKER: Cell<bool> = const { Cell::new(false) };
}

impl Workers {
    /// Runs `job` on a worker and waits for it; on a worker already, it runs in place. A panic is carried over.
    pub(super) fn run<R: Send + 'static>(&self, job: impl FnOnce() -> R + Send + 'static) -> Result<R> {
        if ON_WORKER.get() {
            return Ok(job());
        }
        let worker = match self.lock().pop() {
            Some(worker) => worker,
            None => spawn()?,
        };
        let (answer, result) = mpsc::sync_channel::<Result<R, Box<dyn Any + Send>>>(1);
        let task: Job = Box::new(move || {
            // The asker waits for this one message; it cannot have gone away.
            let _ = answer.send(catch_unwind(AssertUnwindSafe(job)));
        });
        worker.send(task).or_internal("handing a cell to its thread")?;
        let result = result.recv().or_internal("waiting for a cell's thread")?;
        let mut idle = self.lock();
        if idle.len() < KEPT {
            idle.push(worker);
        }
        drop(idle);
        result.or_else(|panic| resume_unwind(panic))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Sender<Job>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that does jobs until nobody can send it one.
fn spawn() -> Result<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("python".into())
        .stack_size(WASM_STACK + HOST_STACK)
        .spawn(move || on_worker(|| jobs.iter().for_each(|job| job())))
        .or_internal("starting a thread for Python")?;
    Ok(sender)
}

/// Marks this thread as a worker while `work` runs.
fn on_worker<R>(work: impl FnOnce() -> R) -> R {
    ON_WORKER.set(true);
    let result = work();
    ON_WORKER.set(false);
    result
}

/// Runs `work` on a new worker thread and waits: for callers that run many cells and want no hand-over between them.
pub(super) fn stay_on_worker<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    thread::scope(|scope| {
        let handle = thread::Builder::new()
            .name("python".into())
            .stack_size(WASM_STACK + HOST_STACK)
            .spawn_scoped(scope, || on_worker(work))
            .or_internal("starting a thread for Python")?;
        handle.join().or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_reused_and_nested_jobs_run_in_place() {
        let workers = std::sync::Arc::new(Workers::default());
        let first = workers.run(|| thread::current().id()).unwrap();
        let nested = workers.clone();
        let (second, inner) =
            workers.run(move || (thread::current().id(), nested.run(|| thread::current().id()).unwrap())).unwrap();
        assert_eq!(first, second);
        assert_eq!(second, inner);
        assert_ne!(first, thread::current().id());
    }

    #[test]
    fn a_panic_reaches_the_asker_and_the_worker_lives_on() {
        let workers = Workers::default();
        let caught = catch_unwind(AssertUnwindSafe(|| workers.run(|| panic!("on purpose"))));
        assert!(caught.is_err());
        assert_eq!(workers.run(|| 7).unwrap(), 7);
    }

    #[test]
    fn stays_on_one_worker() {
        let workers = Workers::default();
        let same = stay_on_worker(|| {
            let here = thread::current().id();
            workers.run(move || thread::current().id() == here).unwrap()
        });
        assert!(same.unwrap());
    }
}
