//! What a cell may use. One struct, one default each, carried unchanged from the front end to the mechanism.

use std::time::Duration;

/// The limits of one cell.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Wall time of a cell, sleeps included. Default 10 s.
    pub wall: Duration,
    /// Wasm operators a cell may execute; `None`, the default, is no limit. Reproducible from run to run.
    pub fuel: Option<u64>,
    /// Bytes of linear memory of the interpreter. Default 512 MiB.
    pub memory: u64,
    /// Bytes kept of each output stream; the rest is counted and dropped, and the program goes on. Default 1 MiB.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(10), fuel: None, memory: 512 << 20, output: 1 << 20 }
    }
}
