//! Whether the cache's disk has room: asked before something large begins, and when something failed.

use super::Cache;
use crate::provision::{megabytes, platform};
use crate::{Error, Result};

/// A disk with less than this is one on which a write has just failed.
const FULL: u64 = 1 << 20;
const MAKE_ROOM: &str = "make room there, or set SLM_CODE_INTERPRETER_CACHE_DIR to a folder on a larger disk; \
                         what was fetched whole is kept, and the next start goes on from there";

impl Cache {
    /// Bytes that can still be written to it, where that is known.
    pub(crate) fn room(&self) -> Option<u64> {
        // A cache that is yet to be made will be on the file system of the folder above it.
        self.root.ancestors().find(|folder| folder.exists()).and_then(platform::room)
    }

    /// Refuses to begin `what` if its bytes cannot fit.
    ///
    /// # Errors
    /// Full.
    pub(crate) fn check_room(&self, bytes: u64, what: &str) -> Result<()> {
        match self.room() {
            Some(free) if free < bytes => Err(Error::full(format!(
                "{what} needs {} of free disk at {}, and there are {}: {} are missing",
                megabytes(bytes),
                self.root.display(),
                megabytes(free),
                megabytes(bytes - free)
            ))
            .advise(MAKE_ROOM)),
            _ => Ok(()),
        }
    }

    /// The same error, or that the disk is full where that is why `what` came to nothing.
    pub(super) fn told_if_full(&self, error: Error, what: &str) -> Error {
        let is_full = error.is_full() || (!error.is_cancelled() && self.room().is_some_and(|free| free < FULL));
        match is_full {
            true if error.is_full() && error.advice().is_some() => error,
            true => Error::full(format!("the disk of {} is full ({error})", self.root.display()))
                .context(what)
                .advise(MAKE_ROOM),
            false => error,
        }
    }
}
