//! What the guest may reach, and the state of one store: the default-deny list.
//!
//! A guest sees five folders (below), no environment but three variables, no arguments, no sockets, an empty stdin and
//! two bounded output streams.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use wasmtime::{StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p2::pipe::ClosedInputStream;
use wasmtime_wasi::{FsPerms, HostMonotonicClock, HostWallClock, WasiCtxBuilder, WasiView};

use super::budget::MemoryCap;
use super::output::Output;
use super::wire::Inbox;
use crate::Cancel;

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// The host folders behind the guest's. Their number and order are part of every image: wasi-libc numbers its
/// descriptors by them when the snapshot is taken and never looks again.
pub(super) struct Mounts<'a> {
    /// Holds `python315.zip`, the standard library: `/usr/local/lib`, read-only.
    pub(super) lib: &'a Path,
    /// Matplotlib's data, read-only.
    pub(super) mpl_data: &'a Path,
    /// `/work`, the guest's own.
    pub(super) work: &'a Path,
    /// `/tmp`, the guest's own.
    pub(super) tmp: &'a Path,
    /// What else a path may name, read-only: empty folders of the names above. It is the slot for folders that a user
    /// mounts later, since the list cannot grow after the snapshot.
    pub(super) root: &'a Path,
}

impl Mounts<'_> {
    /// How many there are: the guest's descriptors from 3 on.
    pub(super) const COUNT: usize = 5;
}

/// Files, folders and streams a guest may have open: each is a descriptor of this process, which has few. A program
/// that opens more is stopped.
const MAX_HANDLES: usize = 256;

/// The state of one store.
pub(super) struct Guest {
    pub(super) wasi: WasiP1Ctx,
    pub(super) memory: MemoryCap,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) inbox: Inbox,
    pub(super) watch: Watch,
    pub(super) clock: Clock,
}

impl Guest {
    /// Authority is granted here and nowhere else.
    pub(super) fn new(mounts: &Mounts<'_>, memory: MemoryCap, output: u64) -> Result<Self> {
        let (stdout, stderr) = (Output::new(output), Output::new(output));
        let clock = Clock(Instant::now());
        let mut wasi = WasiCtxBuilder::new();
        wasi.args(&["/usr/local/bin/python.wasm"])
            .env("TMPDIR", "/tmp")
            .env("HOME", "/work")
            .env("PYTHONTZPATH", "")
            .stdin(ClosedInputStream)
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .monotonic_clock(clock)
            .wall_clock(clock)
            // One request for random bytes must not make the host allocate without bound.
            .max_random_size(1 << 20)
            // A cell has a thread of its own; handing file calls to another would only be slower.
            .allow_blocking_current_thread(true)
            .preopened_dir(mounts.lib, "/usr/local/lib", FsPerms::ReadOnly)?
            .preopened_dir(mounts.mpl_data, "/usr/local/lib/python315.zip/matplotlib/mpl-data", FsPerms::ReadOnly)?
            .preopened_dir(mounts.work, "/work", FsPerms::ReadWrite)?
            .preopened_dir(mounts.tmp, "/tmp", FsPerms::ReadWrite)?
            .preopened_dir(mounts.root, "/", FsPerms::ReadOnly)?;
        let mut wasi = wasi.build_p1();
        wasi.ctx().table.set_max_capacity(MAX_HANDLES);
        Ok(Self { wasi, memory, stdout, stderr, inbox: Inbox::default(), watch: Watch::default(), clock })
    }
}

/// When the running cell must stop.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) deadline: Option<Instant>,
    pub(super) cancel: Cancel,
}

impl Watch {
    fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::Timeout),
            _ => Ok(()),
        }
    }

    /// Sleeps, but not past the deadline or a cancel.
    pub(super) fn sleep(&self, duration: Duration) -> Result<(), Stop> {
        let left = self.deadline.map_or(duration, |deadline| deadline.saturating_duration_since(Instant::now()));
        self.cancel.sleep(duration.min(left));
        self.check()
    }
}

/// Why the host ended a cell; travels as the error of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Timeout,
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the wall limit was reached",
            Self::Cancelled => "cancelled",
        })
    }
}

impl StdError for Stop {}

/// Called at every epoch tick.
pub(super) fn at_tick(guest: StoreContextMut<'_, Guest>) -> Result<UpdateDeadline> {
    guest.data().watch.check()?;
    Ok(UpdateDeadline::Continue(1))
}

/// The guest's clocks: the machine's time of day, and a monotonic one that starts with the interpreter.
#[derive(Clone, Copy)]
pub(super) struct Clock(Instant);

impl HostMonotonicClock for Clock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl HostWallClock for Clock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
    }
}
