//! What the guest may reach, and the state of one store: the default-deny list.
//!
//! A guest sees the folders of [`files`](super::files), no environment but three variables, no arguments, no sockets, an
//! empty stdin and two bounded output streams.

use std::error::Error as StdError;
use std::fmt;
use std::time::{Duration, Instant};

use wasmtime::{Memory, StoreContextMut, UpdateDeadline};

use super::budget::MemoryCap;
use super::clock::Clock;
use super::entropy::Entropy;
use super::files::Files;
use super::metering::Meter;
use super::output::Output;
use super::wire::Inbox;
use crate::{Cancel, Limits};

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
    pub(super) meter: Meter,
    /// The guest's memory, once there is an instance.
    pub(super) memory: Option<Memory>,
}

impl Guest {
    /// Authority is granted here and nowhere else: `world`, what `growth` allows of memory, of what it prints and shows
    /// as much as `limits` keep, and the constants above. There is nothing else that `wasi` could reach.
    pub(super) fn new(world: World, growth: MemoryCap, limits: &Limits) -> Self {
        Self {
            world,
            stdout: Output::new(limits.output),
            stderr: Output::new(limits.output),
            inbox: Inbox::new(limits.display, limits.displays),
            growth,
            watch: Watch::default(),
            meter: Meter::default(),
            memory: None,
        }
    }

    /// The same authority for a session, of a guest in which nobody's code has run.
    pub(super) fn hand_over(&mut self, world: World, limits: &Limits) {
        self.world = world;
        (self.stdout, self.stderr) = (Output::new(limits.output), Output::new(limits.output));
        self.inbox = Inbox::new(limits.display, limits.displays);
        self.growth.allow(limits.memory);
    }
}

/// When the running cell must stop.
#[derive(Clone, Default)]
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

/// Why the host ended a cell. What a call to the host ends travels as the error of the trap; for what ends at a count see
/// [`Meter::stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Timeout,
    /// The counter's budget is used up. Wasmtime's fuel has a trap of its own.
    Fuel,
    Cancelled,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the wall limit was reached",
            Self::Fuel => "the fuel limit was reached",
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
