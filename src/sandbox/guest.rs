//! What the guest may reach, and the state of one store: the default-deny list.
//!
//! A guest sees the folders of [`files`](super::files), no environment but three variables, no arguments, no sockets, an
//! empty stdin and two bounded output streams.

use std::error::Error as StdError;
use std::fmt;
use std::time::{Duration, Instant};

use wasmtime::{Memory, ResourceLimiter, StoreContextMut, UpdateDeadline};

use super::clock::Clock;
use super::entropy::Entropy;
use super::files::Files;
use super::output::Output;
use super::wire::Inbox;
use crate::Cancel;

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// What the program was called as. It is given no arguments of the host's.
pub(super) const ARGUMENTS: &[&str] = &["/usr/local/bin/python.wasm"];

/// All of the environment.
pub(super) const ENVIRONMENT: &[&str] = &["TMPDIR=/tmp", "HOME=/work", "PYTHONTZPATH="];

/// All that a guest has of the world outside its memory. A clone is a state that can be gone back to.
#[derive(Clone)]
pub(super) struct World {
    pub(super) files: Files,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
}

/// The state of one store.
pub(super) struct Guest {
    pub(super) world: World,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) inbox: Inbox,
    pub(super) growth: MemoryCap,
    pub(super) watch: Watch,
    /// The guest's memory, once there is an instance.
    pub(super) memory: Option<Memory>,
}

impl Guest {
    /// Authority is granted here and nowhere else: `world`, so many bytes of `memory`, of which so many of each stream's
    /// `output` are kept, and the constants above. There is nothing else that `wasi` could reach.
    pub(super) fn new(world: World, memory: u64, output: u64) -> Self {
        Self {
            world,
            stdout: Output::new(output),
            stderr: Output::new(output),
            inbox: Inbox::default(),
            growth: MemoryCap { allowed: usize::try_from(memory).unwrap_or(usize::MAX), refused: false },
            watch: Watch::default(),
            memory: None,
        }
    }
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
    pub(super) fn check(&self) -> Result<(), Stop> {
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

/// The program asked to end; travels as the error of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit(pub(super) i32);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}", self.0)
    }
}

impl StdError for Exit {}

/// Called at every epoch tick.
pub(super) fn at_tick(guest: StoreContextMut<'_, Guest>) -> Result<UpdateDeadline> {
    guest.data().watch.check()?;
    Ok(UpdateDeadline::Continue(1))
}
