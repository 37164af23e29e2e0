//! What the guest may reach: the default-deny list, and the calls whose WASI behaviour does not suit a sandbox.
//!
//! A guest sees four folders (below), no environment but three variables, no arguments, no sockets, an empty stdin and
//! two bounded output streams. `poll_oneoff` is our own: a sleep ends at the cell's deadline or at a cancel, which
//! epochs cannot do while the guest is inside a host call. `host.call` takes the driver's frames.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use wasmtime::{Caller, Engine, Linker, ResourceLimiter, StoreContextMut, UpdateDeadline};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2::pipe::ClosedInputStream;
use wasmtime_wasi::{FsPerms, HostMonotonicClock, HostWallClock, I32Exit, WasiCtxBuilder, WasiView};

use super::output::Output;
use super::wire::{Inbox, MAX_FRAME};
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
    wasi: WasiP1Ctx,
    pub(super) memory: MemoryCap,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) inbox: Inbox,
    pub(super) watch: Watch,
    clock: Clock,
}

impl Guest {
    /// Authority is granted here and nowhere else.
    pub(super) fn new(mounts: &Mounts<'_>, memory: u64, output: u64) -> Result<Self> {
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
        Ok(Self {
            wasi,
            memory: MemoryCap { allowed: usize::try_from(memory).unwrap_or(usize::MAX), refused: false },
            stdout,
            stderr,
            inbox: Inbox::default(),
            watch: Watch::default(),
            clock,
        })
    }
}

/// Everything the image imports. A later definition shadows an earlier one, so ours stand where they are needed.
pub(super) fn linker(engine: &Engine) -> Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    linker.allow_shadowing(true);
    p1::add_to_linker_sync(&mut linker, |guest: &mut Guest| &mut guest.wasi)?;
    linker.func_wrap("wasi_snapshot_preview1", "poll_oneoff", poll_oneoff)?;
    // The one of wasmtime-wasi takes codes from 126 on for an error of the program.
    linker.func_wrap("wasi_snapshot_preview1", "proc_exit", |code: i32| -> Result<()> { Err(I32Exit(code).into()) })?;
    linker.func_wrap("host", "call", host_call)?;
    Ok(linker)
}

/// Refuses growth beyond the limit, which the guest sees as a failed allocation, and remembers that it did.
pub(super) struct MemoryCap {
    pub(super) allowed: usize,
    pub(super) refused: bool,
}

impl ResourceLimiter for MemoryCap {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let granted = desired <= self.allowed;
        self.refused |= !granted;
        Ok(granted)
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        // The image never grows its table; a module that did would be bounded by its own declaration.
        Ok(maximum.is_some_and(|maximum| desired <= maximum))
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
    fn sleep(&self, duration: Duration) -> Result<(), Stop> {
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
struct Clock(Instant);

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

const ERRNO_SUCCESS: i32 = 0;
const ERRNO_INVAL: i32 = 28;
const ERRNO_FAULT: i32 = 21;

/// Subscriptions one call may hold; a program that polls has a handful.
const MAX_SUBSCRIPTIONS: u32 = 1024;

/// One entry of `poll_oneoff`'s input, as preview 1 lays it out in 48 bytes.
enum Subscription {
    Clock { userdata: u64, wait: Duration },
    Descriptor { userdata: u64, tag: u8 },
}

impl Subscription {
    const SIZE: usize = 48;

    /// `None` for a tag that preview 1 does not know.
    fn parse(bytes: &[u8; Self::SIZE], clock: Clock) -> Option<Self> {
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let userdata = u64_at(0);
        match bytes[8] {
            0 => {
                let (monotonic, timeout, absolute) = (bytes[16] != 0, u64_at(24), bytes[40] & 1 == 1);
                let now = if monotonic {
                    Duration::from_nanos(HostMonotonicClock::now(&clock))
                } else {
                    HostWallClock::now(&clock)
                };
                let timeout = Duration::from_nanos(timeout);
                Some(Self::Clock { userdata, wait: if absolute { timeout.saturating_sub(now) } else { timeout } })
            }
            tag @ (1 | 2) => Some(Self::Descriptor { userdata, tag }),
            _ => None,
        }
    }
}

/// Files and our streams are always ready, so only a call that waits for nothing but clocks sleeps.
fn poll_oneoff(mut caller: Caller<'_, Guest>, input: u32, output: u32, count: u32, count_out: u32) -> Result<i32> {
    if count == 0 || count > MAX_SUBSCRIPTIONS {
        return Ok(ERRNO_INVAL);
    }
    let memory = memory(&mut caller)?;
    let clock = caller.data().clock;
    let mut subscriptions = Vec::with_capacity(count as usize);
    for index in 0..count as usize {
        let mut bytes = [0; Subscription::SIZE];
        if memory.read(&caller, input as usize + index * Subscription::SIZE, &mut bytes).is_err() {
            return Ok(ERRNO_FAULT);
        }
        match Subscription::parse(&bytes, clock) {
            Some(subscription) => subscriptions.push(subscription),
            None => return Ok(ERRNO_INVAL),
        }
    }

    let waits = |subscription: &Subscription| match subscription {
        Subscription::Clock { wait, .. } => *wait,
        Subscription::Descriptor { .. } => Duration::ZERO,
    };
    let shortest = subscriptions.iter().map(waits).min().unwrap_or_default();
    if !shortest.is_zero() {
        caller.data().watch.sleep(shortest)?;
    }

    let mut written = 0_u32;
    for subscription in subscriptions.iter().filter(|subscription| waits(subscription) <= shortest) {
        let (userdata, tag) = match subscription {
            Subscription::Clock { userdata, .. } => (*userdata, 0),
            Subscription::Descriptor { userdata, tag } => (*userdata, *tag),
        };
        let mut event = [0_u8; 32];
        event[..8].copy_from_slice(&userdata.to_le_bytes());
        event[10] = tag;
        event[16] = 1;
        if memory.write(&mut caller, output as usize + written as usize * event.len(), &event).is_err() {
            return Ok(ERRNO_FAULT);
        }
        written += 1;
    }
    match memory.write(&mut caller, count_out as usize, &written.to_le_bytes()) {
        Ok(()) => Ok(ERRNO_SUCCESS),
        Err(_) => Ok(ERRNO_FAULT),
    }
}

/// `host.call`'s own codes: answered, and refused.
const ANSWERED: i32 = 0;
const FAULT: i32 = -2;

/// Takes a frame. It is measured before it is read, and the answer is always empty.
fn host_call(mut caller: Caller<'_, Guest>, frame: u32, len: u32, answer: u32, answer_len: u32) -> Result<i32> {
    let memory = memory(&mut caller)?;
    if len as usize > MAX_FRAME {
        return Ok(FAULT);
    }
    let (bytes, guest) = memory.data_and_store_mut(&mut caller);
    let Some(frame) = bytes.get(frame as usize..frame as usize + len as usize) else { return Ok(FAULT) };
    if guest.inbox.receive(frame).is_err() {
        return Ok(FAULT);
    }
    for at in [answer, answer_len] {
        if memory.write(&mut caller, at as usize, &[0; 4]).is_err() {
            return Ok(FAULT);
        }
    }
    Ok(ANSWERED)
}

fn memory(caller: &mut Caller<'_, Guest>) -> Result<wasmtime::Memory> {
    let export = caller.get_export("memory").and_then(wasmtime::Extern::into_memory);
    export.ok_or_else(|| wasmtime::Error::msg("the image exports no memory"))
}
