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
}

impl Default for Limits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(10), fuel: None, memory: 512 << 20, output: 1 << 20 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_set_by_its_own_name() {
        let set = Limits::default().wall(Duration::from_secs(3)).fuel(7).memory(8).output(9);
        assert_eq!(set, Limits { wall: Duration::from_secs(3), fuel: Some(7), memory: 8, output: 9 });
        assert_eq!(set.fuel(None).fuel, None);
    }
}
