//! CPython as WebAssembly in this process: [`Python`] is the image, shared; a [`Session`] is one interpreter whose variables persist.

mod outcome;

use std::path::Path;

pub use outcome::{CellError, Change, FileChange, LimitHit, MimeBundle, Outcome, Status, Truncated, Usage};

use crate::progress::Progress;
use crate::{Cancel, Config, Limits, Result};

/// The interpreter image, ready to start sessions from. Cheap to clone.
#[derive(Clone)]
pub struct Python(());

impl Python {
    /// The language version of the image.
    pub const VERSION: &'static str = "3.15";

    /// Finds the image in the cache, or fetches the wheel and builds it (minutes, once a machine).
    pub fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Python> {
        let _ = (config, progress, cancel);
        todo!()
    }

    /// What the sandbox needs, and whether it is there.
    pub(crate) fn inventory(config: &Config) -> Result<Vec<crate::provision::Item>> {
        let _ = config;
        todo!()
    }

    /// A fresh interpreter with an empty `/work`.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        let _ = options;
        todo!()
    }
}

/// How a session starts.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    pub limits: Limits,
    /// What the guest sees as `sys.argv[1:]`.
    pub args: Vec<String>,
}

/// One interpreter whose variables persist from cell to cell.
pub struct Session(());

impl Session {
    /// Runs one cell. What Python did wrong is in the outcome; an error is the sandbox's own.
    pub fn exec(&mut self, code: &str, cancel: &Cancel) -> Result<Outcome> {
        let _ = (code, cancel);
        todo!()
    }

    /// Binds a text to a global variable, now and after every restart.
    pub fn bind_text(&mut self, name: &str, text: &str) -> Result<()> {
        let _ = (name, text);
        todo!()
    }

    /// A fresh interpreter over the same files, bindings and arguments.
    pub fn restart(&mut self) -> Result<()> {
        todo!()
    }

    /// Copies a host file into `/work` under its own name.
    pub fn put_file(&mut self, host: &Path) -> Result<()> {
        let _ = host;
        todo!()
    }

    /// Copies every regular file of `/work` that cells created or modified into the host folder `to`, and names them.
    pub fn export(&self, to: &Path) -> Result<Vec<String>> {
        let _ = to;
        todo!()
    }

    /// Runs the guest's atexit handlers within the wall limit; their output and status are in the outcome.
    pub fn finish(self, cancel: &Cancel) -> Result<Outcome> {
        let _ = cancel;
        todo!()
    }
}
