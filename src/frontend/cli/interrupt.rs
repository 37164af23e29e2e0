//! Ctrl-C (and a request to terminate): once asks the work to stop and tell what it has, twice ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

use super::exit;
use crate::error::OrInternal;
use crate::{Cancel, Result};

/// From here on the first signal cancels the handle that is returned.
pub fn cancel() -> Result<Cancel> {
    let cancel = Cancel::new();
    let handle = cancel.clone();
    on_first(move || handle.cancel())?;
    Ok(cancel)
}

/// From here on the first signal calls `stop`; may be called once in a process.
pub fn on_first(stop: impl Fn() + Send + 'static) -> Result<()> {
    let seen = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(exit::CANCELLED.into());
        }
        stop();
    })
    .or_internal("cannot watch for Ctrl-C")
}
