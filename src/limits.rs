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
    /// Bytes of all files under `/work` and `/tmp` together, holes included. Default 64 MiB. They lie in this process's
    /// memory. Beyond it the program sees `ENOSPC`, or `EFBIG` for what could never fit.
    pub scratch: u64,
    /// Files and folders under `/work` and `/tmp` together. Default 1024. Beyond it the program sees `ENOSPC`.
    pub entries: u64,
    /// Folders inside folders, counted from `/work` or `/tmp`. Default 32. Beyond it the program sees `EDQUOT`.
    pub depth: u64,
    /// Files and folders that are open at once. Default 64. Beyond it the program sees `EMFILE`.
    pub open_files: u64,
    /// Bytes of one displayed object, encoded as it is sent; more than 64 MiB counts as that. Default 4 MiB.
    pub display: u64,
    /// Bytes of all of a cell's displayed objects together. Default 16 MiB.
    pub displays: u64,
}

impl Limits {
    /// These limits with another [`wall`](Self::wall).
    pub fn wall(self, wall: Duration) -> Self {
        Self { wall, ..self }
    }

    /// These limits with another [`fuel`](Self::fuel): a number, or `None` for no limit.
    pub fn fuel(self, fuel: impl Into<Option<u64>>) -> Self {
        Self { fuel: fuel.into(), ..self }
    }

    /// These limits with another [`memory`](Self::memory).
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// These limits with another [`output`](Self::output).
    pub fn output(self, output: u64) -> Self {
        Self { output, ..self }
    }

    /// These limits with another [`scratch`](Self::scratch).
    pub fn scratch(self, scratch: u64) -> Self {
        Self { scratch, ..self }
    }

    /// These limits with another [`entries`](Self::entries).
    pub fn entries(self, entries: u64) -> Self {
        Self { entries, ..self }
    }

    /// These limits with another [`depth`](Self::depth).
    pub fn depth(self, depth: u64) -> Self {
        Self { depth, ..self }
    }

    /// These limits with another [`open_files`](Self::open_files).
    pub fn open_files(self, open_files: u64) -> Self {
        Self { open_files, ..self }
    }

    /// These limits with another [`display`](Self::display).
    pub fn display(self, display: u64) -> Self {
        Self { display, ..self }
    }

    /// These limits with another [`displays`](Self::displays).
    pub fn displays(self, displays: u64) -> Self {
        Self { displays, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(10),
            fuel: None,
            memory: 512 << 20,
            output: 1 << 20,
            scratch: 64 << 20,
            entries: 1024,
            depth: 32,
            open_files: 64,
            display: 4 << 20,
            displays: 16 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_set_by_its_own_name() {
        let set = Limits::default().wall(Duration::from_secs(3)).fuel(7).memory(8).output(9);
        let set = set.scratch(10).entries(11).depth(12).open_files(13).display(14).displays(15);
        let expected = Limits {
            wall: Duration::from_secs(3),
            fuel: Some(7),
            memory: 8,
            output: 9,
            scratch: 10,
            entries: 11,
            depth: 12,
            open_files: 13,
            display: 14,
            displays: 15,
        };
        assert_eq!(set, expected);
        assert_eq!(set.fuel(None).fuel, None);
    }
}
