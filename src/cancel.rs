//! A handle that stops work from another thread: the decoder looks between tokens, the sandbox every few milliseconds
//! and in every sleep, the builders between steps.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::{Error, Result};

/// Cloned handles share one flag. Once cancelled it stays cancelled; make a new one for the next piece of work.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    flag: Mutex<Flag>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Flag {
    cancelled: bool,
    /// Threads that a cancel unparks.
    parked: Vec<Thread>,
}

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all work that holds a clone of this handle to stop; it returns at once.
    pub fn cancel(&self) {
        let mut flag = self.lock();
        flag.cancelled = true;
        flag.parked.iter().for_each(Thread::unpark);
        drop(flag);
        self.0.changed.notify_all();
    }

    /// Whether any clone of this handle was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// An error if it was cancelled: for `?` between steps.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Sleeps for `duration` or until cancelled, and says whether it was.
    pub(crate) fn sleep(&self, duration: Duration) -> bool {
        let (flag, _) = self
            .0
            .changed
            .wait_timeout_while(self.lock(), duration, |flag| !flag.cancelled)
            .unwrap_or_else(PoisonError::into_inner);
        flag.cancelled
    }

    /// A cancel unparks this thread until the returned guard is dropped: for who parks and looks at more than this.
    pub(crate) fn unparks_me(&self) -> Unparks<'_> {
        self.lock().parked.push(thread::current());
        Unparks(self)
    }

    fn lock(&self) -> MutexGuard<'_, Flag> {
        self.0.flag.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Unparks<'a>(&'a Cancel);

impl Drop for Unparks<'_> {
    fn drop(&mut self) {
        let (parked, me) = (&mut self.0.lock().parked, thread::current().id());
        if let Some(at) = parked.iter().position(|thread| thread.id() == me) {
            parked.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_wakes_who_sleeps_and_who_is_parked() {
        let cancel = Cancel::new();
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| cancel.sleep(Duration::from_secs(60)));
            let parked = scope.spawn(|| {
                let _unparks = cancel.unparks_me();
                while !cancel.is_cancelled() {
                    thread::park();
                }
            });
            while cancel.lock().parked.is_empty() {
                thread::yield_now();
            }
            cancel.cancel();
            assert!(sleeper.join().unwrap());
            parked.join().unwrap();
        });
        assert!(cancel.lock().parked.is_empty(), "whoever was woken is forgotten");
    }
}
