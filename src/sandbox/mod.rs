//! CPython as WebAssembly in this process: [`Python`] is the image, shared; a [`Session`] is one interpreter whose
//! variables persist.
//!
//! Read in this order: `session` (a cell becomes an outcome; `options` and `verdict` beside it), `visit` (what happens on the interpreter's thread), `state` and `memory` (what
//! a session is, as a value), `saved` (the same as a file), `instance` (entering wasm and reading the trap), `guest` (what
//! it may reach), `wasi` (its calls to the host), `files`, `clock` and `entropy` (what answers them), `output` and `scratch`
//! (what it leaves), `wire` (what it says), `image`, `snapshot` and `waits` (where the interpreter comes from), `metering` (how it is counted and stopped), `stock` (some that are made ahead), `engine` and
//! `worker` (what it runs on), `budget` (what all sessions share), `packages` (what is added to the library).

mod budget;
mod clock;
mod engine;
mod entropy;
mod files;
mod guest;
mod image;
mod instance;
mod memory;
mod metering;
mod names;
mod options;
mod outcome;
mod output;
mod packages;
mod saved;
mod scratch;
mod session;
mod snapshot;
mod state;
mod stock;
mod verdict;
mod visit;
mod waits;
mod wasi;
mod watcher;
mod wire;
mod worker;

use std::sync::Arc;

pub use files::Mount;
use image::Image;
pub use options::{OnError, SessionOptions};
pub use outcome::{CellError, Change, FileChange, LimitHit, MimeBundle, Outcome, Status, Truncated, Usage};
pub use packages::{Package, Packages};
pub use scratch::FileEntry;
pub use session::Session;
pub use state::Checkpoint;

use crate::progress::Progress;
use crate::provision::Item;
use crate::{Cancel, Config, Result};

/// The interpreter image, ready to start sessions from. Cheap to clone, and shared by all sessions.
#[derive(Clone)]
pub struct Python(Arc<Image>);

impl Python {
    /// The language version of the image.
    pub const VERSION: &'static str = "3.15";

    /// Finds the image in the cache, or fetches the wheel and builds it (minutes, once a machine).
    ///
    /// # Errors
    /// [`is_unavailable`](crate::Error::is_unavailable) when the wheel is not to be had; its advice says how to supply it.
    pub fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Python> {
        Image::open(config, progress, cancel).map(|image| Self(Arc::new(image)))
    }

    /// What the sandbox needs, and whether it is there.
    pub(crate) fn inventory(config: &Config) -> Result<Vec<Item>> {
        image::inventory(config)
    }

    /// Whether this version could still use a folder of the cache.
    pub(crate) fn keeps(kind: &str, key: &str) -> bool {
        image::keeps(kind, key) || Packages::keeps(kind, key)
    }

    /// Waits until [`Capacity::ready`](crate::Capacity::ready) interpreters are ready to be taken.
    pub fn wait_ready(&self) {
        self.0.stock.wait();
    }

    /// A fresh interpreter with an empty `/work`. It is started by its first cell.
    ///
    /// # Errors
    /// [`is_busy`](crate::Error::is_busy) when as many sessions are alive as [`Capacity`](crate::Capacity) allows; a memory
    /// limit below what Python starts with.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        Session::new(self.0.clone(), options)
    }
}

/// Runs `work` on a thread whose stack is deep enough for Python, and waits for it. Cells that are run in it need no
/// hand-over to such a thread, which saves some ten microseconds a cell; nothing else changes.
pub fn on_python_thread<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    worker::stay_on_worker(work)
}
