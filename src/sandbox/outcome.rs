//! What came of one cell. The host decides the status and counts everything; only the texts are the guest's.

use std::collections::BTreeMap;
use std::time::Duration;

/// As many files are told of as changed.
pub(super) const MOST_CHANGES: usize = 10_000;

/// A MIME bundle, Jupyter's way: type → text (binary types in base64).
pub type MimeBundle = BTreeMap<String, String>;

#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub status: Status,
    pub stdout: String,
    pub stderr: String,
    /// Streams that printed more than was kept.
    pub truncated: Vec<Truncated>,
    /// The last expression's value, unless it is None.
    pub result: Option<MimeBundle>,
    pub displays: Vec<MimeBundle>,
    pub error: Option<CellError>,
    pub exit_code: Option<i32>,
    /// The limit that ended the cell.
    pub limit: Option<LimitHit>,
    /// What the cell changed under `/work`, sorted by path: the first 10,000 of it.
    pub files: Vec<FileChange>,
    pub usage: Usage,
    /// What the person should know about the session, as "the cell was undone: after the wall limit the session goes on
    /// from the state before it".
    pub note: Option<String>,
}

#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Ok,
    /// Python raised.
    Error,
    /// `SystemExit` or `os._exit` with a code other than 0 and None.
    Exited,
    Timeout,
    Fuel,
    /// The guest trapped or aborted after a refused growth.
    Memory,
    /// Any other trap.
    Crashed,
    Cancelled,
}

impl Status {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Exited => "exited",
            Self::Timeout => "timeout",
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            Self::Crashed => "crashed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What Python raised, in the guest's own words.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellError {
    /// The exception's class, as `ZeroDivisionError`.
    pub kind: String,
    pub message: String,
    /// The line of the cell, counted from 1.
    pub line: Option<u32>,
    /// The user's frames and library frames, none of ours.
    pub traceback: String,
}

#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct LimitHit {
    pub name: &'static str,
    pub used: f64,
    pub allowed: f64,
    pub unit: &'static str,
}

#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// `stdout` or `stderr`.
    pub stream: &'static str,
    pub kept: u64,
    pub dropped: u64,
}

#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to `/work`, `/` between its parts.
    pub path: String,
    pub change: Change,
    /// Size after the cell; 0 when deleted.
    pub bytes: u64,
    /// Lower-case hex; `None` when deleted.
    pub sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Modified,
    Deleted,
}

impl Change {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
        }
    }
}

#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    pub wall: Duration,
    /// Wasm operators executed.
    pub fuel: u64,
    /// What counts the fuel: `wasmtime`.
    pub metering: &'static str,
    /// The guest's linear memory at the end.
    pub memory_bytes: u64,
    /// Bytes of all files under `/work` and `/tmp` at the end.
    pub scratch_bytes: u64,
}
