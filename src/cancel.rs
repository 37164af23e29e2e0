//! A handle that stops work from another thread: the decoder looks between tokens, the sandbox at every epoch tick
//! and in every sleep, the builders between steps.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Error, Result};

/// Cloned handles share one flag. Once cancelled it stays cancelled; make a new one for the next piece of work.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all work that holds a clone of this handle to stop; it returns at once.
    pub fn cancel(&self) {
        *self.lock() = true;
        self.0.changed.notify_all();
    }

    /// Whether any clone of this handle was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.lock()
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
            .wait_timeout_while(self.lock(), duration, |cancelled| !*cancelled)
            .unwrap_or_else(PoisonError::into_inner);
        *flag
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.0.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
