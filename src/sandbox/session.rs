//! One interpreter whose variables persist from cell to cell.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::clock::{Clock, nanoseconds};
use super::entropy::Entropy;
use super::files::Files;
use super::files::tree::Quota;
use super::guest::{Guest, World};
use super::image::Image;
use super::instance::{End, Instance, Turn};
use super::outcome::{CellError, LimitHit, Outcome, Status, Truncated, Usage};
use super::output::Printed;
use super::scratch::{Scratch, changes};
use super::snapshot::literal;
use crate::{Cancel, Error, Limits, Result};

/// What our own part of a start may take; it needs well under a millisecond.
const START: Duration = Duration::from_secs(10);

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
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            args: Vec::new(),
            undo: true,
            on_error: OnError::default(),
            deterministic: None,
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
}

/// One interpreter whose variables persist from cell to cell, with a `/work` of its own.
///
/// A session survives whatever a cell does. After an exception it keeps what the cell did; after a stop, a trap or
/// `os._exit` it goes on from a fresh interpreter with the files as they were before the cell, and the outcome's `note`
/// says so.
pub struct Session {
    image: Arc<Image>,
    options: SessionOptions,
    bindings: BTreeMap<String, String>,
    /// None before the first cell and after the interpreter died.
    instance: Option<Box<Instance>>,
    /// Files, clock and random source. While there is an interpreter it has its own, and these are as they were before
    /// the last cell.
    world: World,
    scratch: Scratch,
    cells: u32,
    /// What the last cell used of the limits that its exit handlers share with it.
    spent: Spent,
}

/// Wall time and fuel.
#[derive(Clone, Copy, Default)]
struct Spent {
    wall: Duration,
    fuel: u64,
}

impl Session {
    pub(super) fn new(image: Arc<Image>, options: SessionOptions) -> Result<Self> {
        let (allowed, needed) = (options.limits.memory, image.memory_bytes());
        if allowed < needed {
            let text = format!(
                "a memory limit of {} MiB is less than the {} MiB that Python starts with",
                allowed >> 20,
                needed >> 20
            );
            return Err(Error::usage(text).advise("allow at least 128 MiB"));
        }
        Ok(Self {
            world: world(&image, &options),
            scratch: Scratch::default(),
            image,
            options,
            bindings: BTreeMap::new(),
            instance: None,
            cells: 0,
            spent: Spent::default(),
        })
    }

    /// Runs one cell. What Python did wrong is in the outcome; an error is the sandbox's own.
    pub fn exec(&mut self, code: &str, cancel: &Cancel) -> Result<Outcome> {
        self.cells += 1;
        self.spent = Spent::default();
        let call = format!("__import__('_slm_cell').run({}, {})", literal(code), self.cells);
        self.turn(call, cancel)
    }

    /// Binds a text to a global variable, now and after every restart.
    ///
    /// # Errors
    /// A name that Python would not take for a variable.
    pub fn bind_text(&mut self, name: &str, text: &str) -> Result<()> {
        let plain =
            name.chars().enumerate().all(|(at, c)| c == '_' || c.is_ascii_alphabetic() || at > 0 && c.is_ascii_digit());
        if name.is_empty() || !plain {
            return Err(Error::usage(format_args!("{name:?} cannot be the name of a variable")));
        }
        self.bindings.insert(name.to_owned(), text.to_owned());
        if let Some(instance) = self.instance.take() {
            self.world = instance.world().clone();
            let texts = json!({ name: text }).to_string();
            self.instance = Some(self.prepare(instance, "bind", &texts)?);
        }
        Ok(())
    }

    /// A fresh interpreter over the same files, bindings and arguments.
    pub fn restart(&mut self) {
        if let Some(instance) = self.instance.take() {
            self.world = instance.into_world();
        }
    }

    /// Copies a host file into `/work` under its own name.
    pub fn put_file(&mut self, host: &Path) -> Result<()> {
        let world = match &mut self.instance {
            Some(instance) => instance.world_mut(),
            None => &mut self.world,
        };
        let now = world.clock.wall(0);
        self.scratch.put(world.files.tree_mut(), host, now)
    }

    /// Copies every regular file of `/work` that cells created or modified into the host folder `to`, and names them.
    pub fn export(&self, to: &Path) -> Result<Vec<String>> {
        self.scratch.export(self.now().files.tree(), to)
    }

    /// Writes the session into one file: variables, files, counters. It can be [loaded](Self::load) on any machine
    /// whose image was built from the same parts.
    pub fn save(&mut self, path: &Path) -> Result<()> {
        Err(Error::internal(format_args!("saving to {}: not built yet", path.display())))
    }

    /// The session that [`save`](Self::save) wrote, with limits and habits of its own; arguments are the saved ones.
    ///
    /// # Errors
    /// A file that is damaged, of another image, or holds more than `options.limits` allow.
    pub fn load(python: &super::Python, path: &Path, options: SessionOptions) -> Result<Self> {
        let _ = (python, options);
        Err(Error::internal(format_args!("loading {}: not built yet", path.display())))
    }

    /// Ends the interpreter: its exit handlers run within what the last cell left of its limits, and what they print and how they end is the
    /// outcome. `None` when there is no interpreter, since nothing ran or the last cell ended it. The files stay, and a
    /// later cell starts a fresh interpreter.
    ///
    /// # Errors
    /// The sandbox's own failures; the interpreter is gone then too.
    pub fn finish(&mut self, cancel: &Cancel) -> Result<Option<Outcome>> {
        if self.instance.is_none() {
            return Ok(None);
        }
        let end = self.turn("__import__('_slm_cell').finish()".to_owned(), cancel);
        self.restart();
        end.map(Some)
    }

    /// Files, clock and random source as they are now.
    fn now(&self) -> &World {
        self.instance.as_ref().map_or(&self.world, |instance| instance.world())
    }

    fn turn(&mut self, code: String, cancel: &Cancel) -> Result<Outcome> {
        let instance = self.ready()?;
        // What a stop goes back to.
        self.world = instance.world().clone();
        let (image, running) = (self.image.clone(), cancel.clone());
        let (wall, fuel) = left(&self.options, self.spent);
        let number = self.cells;
        let (turn, instance) = self.image.workers.run(move || {
            log::debug!("cell {number} runs");
            let mut instance = instance;
            let turn = instance.turn(&code, wall, fuel, &running, &image.ticker);
            (turn, instance)
        })?;
        let turn = turn?;
        self.spent.wall += turn.wall;
        self.spent.fuel += turn.fuel;
        let memory_bytes = instance.memory_bytes();
        let note = (!turn.end.is_alive()).then(|| lost(&turn.end));
        if turn.end.is_alive() {
            self.instance = Some(instance);
        }
        Ok(self.outcome(turn, memory_bytes, note, cancel))
    }

    /// The live interpreter, or a fresh one.
    fn ready(&mut self) -> Result<Box<Instance>> {
        if let Some(instance) = self.instance.take() {
            return Ok(instance);
        }
        // What another interpreter had open is no file of this one's.
        self.world.files.close_all();
        let limits = &self.options.limits;
        let guest = Guest::new(self.world.clone(), limits.memory, limits.output);
        self.begin(Box::new(Instance::new(&self.image.pre, guest)?))
    }

    /// Gives the interpreter its arguments and bindings.
    fn begin(&self, instance: Box<Instance>) -> Result<Box<Instance>> {
        let mut argv = vec!["cell"];
        argv.extend(self.options.args.iter().map(String::as_str));
        let settings = json!({ "argv": argv, "bind": self.bindings }).to_string();
        self.prepare(instance, "start", &settings)
    }

    /// Calls one of the driver's functions that run nothing of the guest's, with a JSON text.
    fn prepare(&self, instance: Box<Instance>, function: &str, settings: &str) -> Result<Box<Instance>> {
        let code = format!("__import__('_slm_cell').{function}({})", literal(settings));
        let image = self.image.clone();
        let (turn, instance) = self.image.workers.run(move || {
            let mut instance = instance;
            let turn = instance.turn(&code, START, None, &Cancel::new(), &image.ticker);
            (turn, instance)
        })?;
        let turn = turn?;
        match turn.end {
            End::Returned(0) => Ok(instance),
            end => Err(Error::internal(format_args!("{end:?}: {}", turn.stderr.text)).context("preparing a session")),
        }
    }

    fn outcome(&mut self, turn: Turn, memory_bytes: u64, note: Option<String>, cancel: &Cancel) -> Outcome {
        let (status, exit_code) = status(&turn.end, turn.inbox.exit);
        let truncated = [("stdout", &turn.stdout), ("stderr", &turn.stderr)];
        let truncated = truncated.into_iter().filter_map(|(stream, printed)| cut(stream, printed)).collect();
        let tree = self.now().files.tree();
        let files = changes(self.world.files.tree(), tree, cancel);
        let scratch_bytes = tree.used().bytes;
        Outcome {
            status,
            truncated,
            result: turn.inbox.result.filter(|_| status == Status::Ok),
            displays: turn.inbox.displays,
            error: (status == Status::Error).then(|| turn.inbox.error.unwrap_or_else(unreported)),
            exit_code,
            limit: limit(status, &self.options, self.spent, memory_bytes),
            files,
            usage: Usage { wall: turn.wall, fuel: turn.fuel, metering: "wasmtime", memory_bytes, scratch_bytes },
            note,
            stdout: turn.stdout.text,
            stderr: turn.stderr.text,
        }
    }
}

/// The host's verdict. The guest's frame only says *which* exit code a failed turn asked for.
fn status(end: &End, exit: Option<i32>) -> (Status, Option<i32>) {
    match (end, exit) {
        (End::Returned(0), exit) => (Status::Ok, exit.map(|_| 0)),
        (End::Returned(_), Some(code)) if code != 0 => (Status::Exited, Some(code)),
        (End::Returned(_), _) => (Status::Error, None),
        (End::Exited(0), _) => (Status::Ok, Some(0)),
        (End::Exited(code), _) => (Status::Exited, Some(*code)),
        (End::Timeout, _) => (Status::Timeout, None),
        (End::Fuel, _) => (Status::Fuel, None),
        (End::Memory, _) => (Status::Memory, None),
        (End::Crashed(_), _) => (Status::Crashed, None),
        (End::Cancelled, _) => (Status::Cancelled, None),
    }
}

/// An empty `/work` and `/tmp`, and the time and the random source that the options ask for.
fn world(image: &Image, options: &SessionOptions) -> World {
    let limits = &options.limits;
    let (clock, entropy) = match options.deterministic {
        None => (Clock::real(0), Entropy::System),
        Some(seed) => (Clock::counted(0), Entropy::seeded(seed, 0)),
    };
    let quota = Quota { bytes: limits.scratch, entries: limits.entries, depth: limits.depth };
    World { files: Files::new(image.mounts.clone(), quota, limits.open_files, clock.wall(0)), clock, entropy }
}

/// The machine's time and the fuel that a cell may use. In a deterministic session fuel alone decides, one operator a
/// nanosecond unless it has a limit of its own; the machine's time only ends what would never end.
fn allowed(options: &SessionOptions) -> (Duration, Option<u64>) {
    let Limits { wall, fuel, .. } = options.limits;
    match options.deterministic {
        None => (wall, fuel),
        Some(_) => (wall.saturating_mul(10), Some(fuel.unwrap_or(nanoseconds(wall)))),
    }
}

/// What is left of it. Virtual time takes nothing from the machine's.
fn left(options: &SessionOptions, spent: Spent) -> (Duration, Option<u64>) {
    let (wall, fuel) = allowed(options);
    let wall = if options.deterministic.is_some() { wall } else { wall.saturating_sub(spent.wall) };
    (wall, fuel.map(|fuel| fuel.saturating_sub(spent.fuel)))
}

fn limit(status: Status, options: &SessionOptions, spent: Spent, memory: u64) -> Option<LimitHit> {
    let Spent { wall, fuel } = spent;
    let limits = &options.limits;
    // Every count here is far below 2^53, where an f64 is still exact.
    #[expect(clippy::cast_precision_loss, reason = "a count of operators or bytes, below 2^53")]
    let float = |count: u64| count as f64;
    match status {
        Status::Timeout => {
            Some(LimitHit { name: "wall", used: wall.as_secs_f64(), allowed: limits.wall.as_secs_f64(), unit: "s" })
        }
        Status::Fuel => Some(LimitHit {
            name: "fuel",
            used: float(fuel),
            allowed: float(allowed(options).1.unwrap_or(fuel)),
            unit: "operators",
        }),
        Status::Memory => {
            Some(LimitHit { name: "memory", used: float(memory), allowed: float(limits.memory), unit: "bytes" })
        }
        _ => None,
    }
}

fn cut(stream: &'static str, printed: &Printed) -> Option<Truncated> {
    (printed.dropped > 0).then_some(Truncated { stream, kept: printed.kept, dropped: printed.dropped })
}

/// What is known of an exception that the driver did not describe, for instance because the cell broke it.
fn unreported() -> CellError {
    CellError { kind: "Exception".into(), message: "the cell failed without saying why".into(), ..CellError::default() }
}

fn lost(end: &End) -> String {
    let why = match end {
        End::Exited(_) => "os._exit".to_owned(),
        End::Timeout => "the wall limit".to_owned(),
        End::Fuel => "the fuel limit".to_owned(),
        End::Memory => "the memory limit".to_owned(),
        End::Cancelled => "the cancellation".to_owned(),
        End::Crashed(why) => format!("a crash ({why})"),
        End::Returned(_) => return String::new(),
    };
    format!(
        "the state was reset: after {why} the session goes on in a fresh interpreter, without its variables, and with its files as they were before the cell"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_decides_and_the_frame_only_names_the_code() {
        assert_eq!(status(&End::Returned(0), None), (Status::Ok, None));
        assert_eq!(status(&End::Returned(0), Some(0)), (Status::Ok, Some(0)));
        // A cell that returned normally has not exited, whatever a frame says.
        assert_eq!(status(&End::Returned(0), Some(9)), (Status::Ok, Some(0)));
        assert_eq!(status(&End::Returned(1), Some(3)), (Status::Exited, Some(3)));
        // A failed cell cannot claim a clean exit.
        assert_eq!(status(&End::Returned(1), Some(0)), (Status::Error, None));
        assert_eq!(status(&End::Exited(0), None), (Status::Ok, Some(0)));
        assert_eq!(status(&End::Exited(4), Some(0)), (Status::Exited, Some(4)));
        assert_eq!(status(&End::Timeout, Some(0)), (Status::Timeout, None));
    }

    #[test]
    fn fuel_stands_for_the_time_of_a_deterministic_session() {
        let limits = Limits::default().wall(Duration::from_secs(3));
        let real = SessionOptions::new(limits.clone());
        let spent = Spent { wall: Duration::from_secs(1), fuel: 7 };
        assert_eq!(left(&real, spent), (Duration::from_secs(2), None));
        let real = SessionOptions::new(limits.clone().fuel(10));
        assert_eq!(left(&real, spent), (Duration::from_secs(2), Some(3)));
        let counted = SessionOptions::new(limits.clone()).deterministic(1);
        assert_eq!(left(&counted, spent), (Duration::from_secs(30), Some(2_999_999_993)));
        let counted = SessionOptions::new(limits.fuel(5)).deterministic(1);
        assert_eq!(left(&counted, spent), (Duration::from_secs(30), Some(0)));
        let endless = SessionOptions::new(Limits::default().wall(Duration::MAX)).deterministic(1);
        assert_eq!(left(&endless, Spent::default()), (Duration::MAX, Some(u64::MAX)));
    }
}
