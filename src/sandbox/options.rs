//! How a session starts, and what it is to do with cells that fail.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::clock::{Clock, nanoseconds};
use super::entropy::Entropy;
use super::files::tree::Quota;
use super::files::{Grants, Mount, Mounts};
use super::packages::{self, Packages};
use super::wire::MAX_DISPLAY;
use crate::{Error, Limits, Metering, Result};

/// How a session starts.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct SessionOptions {
    pub limits: Limits,
    /// What the guest sees as `sys.argv[1:]`.
    pub args: Vec<String>,
    /// Whether the state before each cell is kept, so that it can be undone. It is, unless this says otherwise: without
    /// it `Session::rewind` is refused, and after a stop the session goes on from a fresh interpreter.
    pub undo: bool,
    /// What a cell that raised leaves behind.
    pub on_error: OnError,
    /// The seed of a deterministic session: the clock is virtual, every random source is seeded, and the same cells give
    /// the same outcomes to the byte. `None`, the default, is the machine's time and entropy.
    pub deterministic: Option<u64>,
    /// Folders of the host that the session may use.
    pub mounts: Vec<Mount>,
    /// What the guest can import besides what is inside.
    pub packages: Option<Packages>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            args: Vec::new(),
            undo: true,
            on_error: OnError::default(),
            deterministic: None,
            mounts: Vec::new(),
            packages: None,
        }
    }
}

/// What becomes of the work of a cell that raised an exception or exited with an error.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Stays, as in a notebook.
    #[default]
    Keep,
    /// Is undone, variables and files.
    Rewind,
}

impl SessionOptions {
    /// These limits, and no arguments.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// What the guest sees as `sys.argv[1:]`.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Whether the state before each cell is [kept](Self::undo).
    pub fn undo(self, undo: bool) -> Self {
        Self { undo, ..self }
    }

    /// What a cell that raised leaves behind.
    pub fn on_error(self, on_error: OnError) -> Self {
        Self { on_error, ..self }
    }

    /// Makes the session [`deterministic`](Self::deterministic) with this seed.
    pub fn deterministic(self, seed: u64) -> Self {
        Self { deterministic: Some(seed), ..self }
    }

    /// Lets the session use one more folder of the host.
    ///
    /// ```
    /// use slm_code_interpreter::{Mount, SessionOptions};
    ///
    /// let options = SessionOptions::default().mount(Mount::read_only(std::env::temp_dir(), "/data")?);
    /// # Ok::<(), slm_code_interpreter::Error>(())
    /// ```
    pub fn mount(mut self, mount: Mount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Lets the guest import these [`packages`](Self::packages) too.
    pub fn packages(self, packages: &Packages) -> Self {
        Self { packages: Some(packages.clone()), ..self }
    }
}

/// What a driver is told when its interpreter starts, and anew when it goes on under other options.
#[derive(Clone, PartialEq)]
pub(super) struct Told {
    /// What one displayed object may take, and all of a cell.
    pub(super) displays: (u64, u64),
    /// The packages to import from, `name==version` each.
    pub(super) packages: Arc<[String]>,
}

impl Told {
    /// As the driver reads it.
    pub(super) fn settings(&self) -> serde_json::Map<String, Value> {
        let mut settings = serde_json::Map::new();
        settings.insert("display".into(), self.displays.0.into());
        settings.insert("displays".into(), self.displays.1.into());
        if !self.packages.is_empty() {
            settings.insert("packages".into(), packages::TARGET.into());
        }
        settings
    }
}

impl SessionOptions {
    pub(super) fn told(&self) -> Told {
        let packages = self.packages.as_ref().map(|packages| packages.label().clone());
        Told { displays: self.displays(), packages: packages.unwrap_or_default() }
    }

    /// Refuses a state whose modules come from packages, `name==version` each, that these options do not give.
    pub(super) fn has(&self, packages: &[String]) -> Result<()> {
        let given = self.packages.as_ref().map(|packages| packages.label().clone()).unwrap_or_default();
        match packages.iter().find(|package| !given.contains(package)) {
            None => Ok(()),
            Some(missing) => Err(Error::usage(format_args!("it had the package {missing}, which is not given now"))
                .advise("give the packages that it had again: the same --with, --with-requirements or --lock")),
        }
    }

    pub(super) fn quota(&self) -> Quota {
        let Limits { scratch, entries, depth, .. } = self.limits;
        Quota { bytes: scratch, entries, depth }
    }

    /// Refuses what no session can start with, before there is any.
    ///
    /// # Errors
    /// Mounts that cannot be together.
    pub(crate) fn check(&self) -> Result<()> {
        Grants::new(&self.mounts, self.quota()).map(|_| ())
    }

    /// The folders of the host that a new session sees, `image` being those of its image.
    ///
    /// # Errors
    /// Mounts that cannot be together, or would show the cache.
    pub(super) fn see(&self, image: &Arc<Mounts>) -> Result<Arc<Mounts>> {
        if self.packages.is_none() && self.mounts.is_empty() {
            return Ok(image.clone());
        }
        image.protect(&self.mounts)?;
        Ok(Arc::new(image.with(
            self.packages.as_ref().map(|packages| packages.mounted().clone()),
            Grants::new(&self.mounts, self.quota())?,
        )))
    }

    /// What one displayed object may take, and all of a cell.
    pub(super) fn displays(&self) -> (u64, u64) {
        (self.limits.display.min(MAX_DISPLAY as u64), self.limits.displays)
    }

    /// The time and the random source of a session that begins.
    pub(super) fn time_and_entropy(&self, metering: Metering) -> (Clock, Entropy) {
        match self.deterministic {
            None => (Clock::real(0), Entropy::System),
            Some(seed) => (Clock::counted(metering, 0), Entropy::seeded(seed, 0)),
        }
    }

    /// The machine's time and the fuel that a cell may use. In a deterministic session fuel alone decides, as much as its
    /// time is worth unless it has a limit of its own; the machine's time only ends what takes far longer than it counts.
    pub(super) fn allowed(&self, metering: Metering) -> (Duration, Option<u64>) {
        let Limits { wall, fuel, .. } = self.limits;
        match self.deterministic {
            None => (wall, fuel),
            Some(_) => (
                wall.saturating_mul(3).saturating_add(Duration::from_secs(1)),
                Some(fuel.unwrap_or(nanoseconds(wall) / metering.nanoseconds())),
            ),
        }
    }
}
