//! Interpreters that are made before they are asked for.
//!
//! Most of what a fresh interpreter costs is copying the pages that its first cell writes. Here a thread of its own does
//! that ahead of time, with a cell of ours: an interpreter is put aside once, taken once, and nobody's code has run in
//! it. Sessions that count their time get none, since theirs begins with the interpreter.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use wasmtime::InstancePre;

use super::budget::{Budget, MemoryCap};
use super::clock::Clock;
use super::entropy::Entropy;
use super::files::tree::Quota;
use super::files::{Files, Mounts};
use super::guest::{Guest, World};
use super::instance::{End, Instance};
use super::memory::Finder;
use super::visit::{START, driver};
use super::watcher::Watcher;
use super::worker;
use crate::{Cancel, Error, Limits, Result};

/// What an interpreter is made of.
pub(super) struct Parts {
    pub(super) pre: InstancePre<Guest>,
    pub(super) finder: Arc<Finder>,
    pub(super) budget: Arc<Budget>,
    pub(super) mounts: Arc<Mounts>,
    pub(super) watcher: Arc<Watcher>,
}

impl Parts {
    fn make(&self) -> Result<Instance> {
        let limits = Limits::default();
        let files = Files::new(self.mounts.clone(), Quota { bytes: 0, entries: 0, depth: 0 }, limits.open_files, 0);
        let world = World { files, clock: Clock::real(0), entropy: Entropy::System };
        let memory = MemoryCap::new(limits.memory, self.budget.charge());
        let mut instance = Instance::new(&self.pre, Guest::new(world, memory, &limits))?;
        instance.show_fresh(&self.finder);
        for call in [driver("start", "{}"), "__import__('_slm_cell').warm()".to_owned()] {
            let turn = instance.turn(&call, START, None, &Cancel::new(), &self.watcher)?;
            if turn.end != End::Returned(0) {
                return Err(Error::internal(format_args!("{:?}: {}", turn.end, turn.stderr.text)));
            }
        }
        Ok(instance)
    }
}

/// At most so many interpreters. When half of them are taken they are made anew in the background: both making and
/// running want the kernel's lock on this process's memory, so a burst of sessions is not disturbed from the first on.
pub(super) struct Stock {
    size: usize,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    shelf: Mutex<Shelf>,
    /// One was taken, or the end has come; or one was put.
    changed: Condvar,
}

#[derive(Default)]
struct Shelf {
    ready: Vec<Instance>,
    /// Somebody waits for all of them.
    awaited: bool,
    ended: bool,
    /// The last one could not be made, which is logged; whoever comes makes their own, and then it is tried again.
    failed: bool,
}

impl Stock {
    /// `size` interpreters of these parts; none need no thread.
    pub(super) fn start(size: usize, parts: Parts) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = (size > 0)
            .then(|| {
                let shared = shared.clone();
                worker::spawn("stock", move || fill(&shared, size, &parts))
            })
            .transpose()?;
        Ok(Self { size, shared, thread })
    }

    pub(super) fn take(&self) -> Option<Instance> {
        self.thread.as_ref()?;
        let instance = lock(&self.shared.shelf).ready.pop();
        self.shared.changed.notify_all();
        instance
    }

    /// Waits until all are there.
    pub(super) fn wait(&self) {
        let mut shelf = lock(&self.shared.shelf);
        while self.thread.is_some() && shelf.ready.len() < self.size && !shelf.failed {
            shelf.awaited = true;
            self.shared.changed.notify_all();
            shelf = self.shared.changed.wait(shelf).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        lock(&self.shared.shelf).ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // Its panic has been printed, and a drop has nobody to tell.
            let _ = thread.join();
        }
    }
}

/// Nobody waits for a thread that is gone, however it went.
struct Leaving<'a>(&'a Shared);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        lock(&self.0.shelf).failed = true;
        self.0.changed.notify_all();
    }
}

fn fill(shared: &Shared, size: usize, parts: &Parts) {
    let _leaving = Leaving(shared);
    loop {
        {
            let mut shelf = lock(&shared.shelf);
            if shelf.ready.len() >= size {
                shelf.awaited = false;
                while shelf.ready.len() > size / 2 && !shelf.awaited && !shelf.ended {
                    shelf = shared.changed.wait(shelf).unwrap_or_else(PoisonError::into_inner);
                }
            }
            if shelf.ended {
                return;
            }
        }
        let made = parts.make();
        let mut shelf = lock(&shared.shelf);
        shelf.failed = made.is_err();
        shared.changed.notify_all();
        match made {
            Ok(instance) => shelf.ready.push(instance),
            Err(error) => {
                log::warn!("no interpreter could be made ready: {error}");
                if !shelf.ended {
                    drop(shared.changed.wait(shelf));
                }
            }
        }
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}
