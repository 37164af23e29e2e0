//! What all sessions of one image may use together.

/// Bounds on everything that runs from one [`Python`](crate::Python); part of the [`Config`](crate::Config) it is
/// opened with. A single cell is bounded by its [`Limits`](crate::Limits) besides.
///
/// Not counted against [`memory`](Self::memory) is what is bounded in another way: the image's own pages (some 118 MiB)
/// that a *running* cell writes to, for at most [`workers`](Self::workers) cells at once; each worker's stack, 68 MiB
/// of which a deep recursion uses, and keeps; and the bytes that a cell printed or displayed, until the caller drops its
/// outcome.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Sessions alive at once. Default 2,048. A further one is refused with an error that
    /// [`is_busy`](crate::Error::is_busy).
    pub sessions: usize,
    /// Bytes of host memory that sessions hold together: linear memory beyond the image's, files under `/work` and
    /// `/tmp`, and what is kept of a session between its cells. Default: half of the machine's memory, or 4 GiB where
    /// that is not known. What does not fit is refused as if the session's own limit had been reached.
    pub memory: u64,
    /// Cells that run at once, sleeping ones included. Default: four for each core, at least 8. A further cell waits
    /// for its turn, in order of arrival, until it is cancelled; its wall limit counts from when it starts.
    pub workers: usize,
    /// Interpreters that are kept ready for sessions to come, so that the first cell of one need not wait for what every
    /// cell writes to: some 2 MiB each, and a thread that makes them anew when half are taken. Default 0. Deterministic sessions use none.
    pub ready: usize,
}

/// Assumed where the machine does not tell: half of 8 GiB.
const MEMORY: u64 = 4 << 30;

impl Capacity {
    /// These bounds with another [`sessions`](Self::sessions).
    pub fn sessions(self, sessions: usize) -> Self {
        Self { sessions, ..self }
    }

    /// These bounds with another [`memory`](Self::memory).
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// These bounds with another [`workers`](Self::workers); 0 counts as 1.
    pub fn workers(self, workers: usize) -> Self {
        Self { workers, ..self }
    }

    /// These bounds with another [`ready`](Self::ready).
    pub fn ready(self, ready: usize) -> Self {
        Self { ready, ..self }
    }
}

impl Default for Capacity {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            sessions: 2048,
            memory: machine_memory("MemTotal").map_or(MEMORY, |total| total / 2),
            workers: cores.saturating_mul(4).max(8),
            ready: 0,
        }
    }
}

/// Bytes of the machine's memory under this name in `/proc/meminfo`, where there is one (Linux).
pub(crate) fn machine_memory(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_tells_its_memory() {
        let (free, total) = (machine_memory("MemAvailable").unwrap(), machine_memory("MemTotal").unwrap());
        assert!(1 << 20 < free && free < total, "{free} of {total}");
        assert_eq!(machine_memory("Mem"), None);
        assert_eq!(Capacity::default().memory, total / 2);
    }

    #[test]
    fn each_bound_is_set_by_its_own_name() {
        let set = Capacity::default().sessions(1).memory(2).workers(3).ready(4);
        assert_eq!(set, Capacity { sessions: 1, memory: 2, workers: 3, ready: 4 });
        assert!(Capacity::default().workers >= 8);
    }
}
