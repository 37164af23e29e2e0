//! One interpreter whose variables persist from cell to cell.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::budget::{MemoryCap, Place};
use super::guest::{Guest, Mounts};
use super::image::Image;
use super::instance::{End, Instance, Turn};
use super::memory::Pages;
use super::outcome::{CellError, LimitHit, Outcome, Status, Truncated, Usage};
use super::output::Printed;
use super::scratch::Scratch;
use super::snapshot::literal;
use super::state::{Checkpoint, Machine, State};
use super::wire::Inbox;
use crate::error::OrInternal;
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
/// A session survives whatever a cell does. After an exception it keeps what the cell did, unless
/// [`SessionOptions::on_error`] says otherwise; after a stop, a trap or `os._exit` it goes on from the state before the
/// cell, and the outcome's `note` says so.
pub struct Session {
    image: Arc<Image>,
    options: SessionOptions,
    bindings: Arc<BTreeMap<String, String>>,
    /// The live interpreter. Before `scratch`, since it has files open there.
    instance: Option<Box<Instance>>,
    /// What the next interpreter starts as, while none is live; `None` is a fresh one.
    resume: Option<Arc<Machine>>,
    scratch: Scratch,
    cells: u32,
    /// The state before the last cell, unless that is undone already.
    before: Option<State>,
    /// What the last cell used of the limits that its exit handlers share with it.
    spent: Spent,
    /// Last, so that it is free for another session when everything else is gone.
    _place: Place,
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
        let place = image.budget.place()?;
        Ok(Self {
            scratch: Scratch::new(&image.folders)?,
            image,
            options,
            bindings: Arc::default(),
            instance: None,
            resume: None,
            cells: 0,
            before: None,
            spent: Spent::default(),
            _place: place,
        })
    }

    /// Runs one cell. What Python did wrong is in the outcome; an error is the sandbox's own.
    ///
    /// At most [`Capacity::workers`](crate::Capacity::workers) cells run at once, and a further one waits for its turn;
    /// its wall limit counts from when it starts.
    ///
    /// # Errors
    /// [`is_cancelled`](Error::is_cancelled) when `cancel` came before the cell's turn: the session is as it was.
    pub fn exec(&mut self, code: &str, cancel: &Cancel) -> Result<Outcome> {
        self.keep();
        self.cells += 1;
        self.spent = Spent::default();
        let call = format!("__import__('_slm_cell').run({}, {})", literal(code), self.cells);
        let (turn, memory_bytes) = match self.turn(call, cancel) {
            Ok(turn) => turn,
            Err(error) => {
                self.undo_or_restart();
                return Err(error);
            }
        };
        let (status, _) = status(&turn.end, turn.inbox.exit);
        let mut note = None;
        if !turn.end.is_alive() {
            note = Some(self.undo_after(&turn.end));
        } else if status != Status::Ok && self.options.on_error == OnError::Rewind {
            self.rewind()?;
            note = Some("what the cell did was undone, as asked for cells that fail".to_owned());
        }
        Ok(self.outcome(turn, memory_bytes, note, cancel))
    }

    /// Binds a text to a global variable, now and in every fresh interpreter.
    ///
    /// # Errors
    /// A name that Python would not take for a variable.
    pub fn bind_text(&mut self, name: &str, text: &str) -> Result<()> {
        let plain =
            name.chars().enumerate().all(|(at, c)| c == '_' || c.is_ascii_alphabetic() || at > 0 && c.is_ascii_digit());
        if name.is_empty() || !plain {
            return Err(Error::usage(format_args!("{name:?} cannot be the name of a variable")));
        }
        Arc::make_mut(&mut self.bindings).insert(name.to_owned(), text.to_owned());
        if self.instance.is_some() || self.resume.is_some() {
            let texts = json!({ name: text }).to_string();
            let cancel = Cancel::new();
            let instance = self.ready(&cancel)?;
            self.instance = Some(self.prepare(instance, "bind", &texts, &cancel)?);
        }
        Ok(())
    }

    /// A fresh interpreter over the same files, bindings and arguments. It cannot be undone.
    pub fn restart(&mut self) {
        (self.instance, self.resume, self.before) = (None, None, None);
    }

    /// Undoes the last cell, variables and files, and says whether there was one to undo: a cell that was stopped is
    /// undone already, and only the last one can be.
    ///
    /// # Errors
    /// A session without [`SessionOptions::undo`].
    pub fn rewind(&mut self) -> Result<bool> {
        if !self.options.undo {
            return Err(Error::usage("this session keeps nothing to go back to").advise("start it with undo"));
        }
        let before = self.before.take();
        Ok(before.map(|state| self.go_back(state)).is_some())
    }

    /// For the next attempt at the same thing: undoes the last one, or, without undo, begins with a fresh interpreter.
    pub(crate) fn undo_or_restart(&mut self) {
        match self.before.take() {
            Some(before) => self.go_back(before),
            // The last cell was stopped, which undid it.
            None if self.options.undo => {}
            None => self.restart(),
        }
    }

    /// The session's state as it is now. It can be gone back to, any number of times.
    pub fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint::new(self.image.clone(), self.state(Pages::default()))
    }

    /// Makes the session what it was, or what another session of the same image was, at a checkpoint. Its limits and
    /// options stay its own.
    ///
    /// # Errors
    /// A checkpoint of another image, or one that holds more than this session's limits allow.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let state = checkpoint.state(&self.image)?;
        self.go_back(state);
        self.before = None;
        Ok(())
    }

    /// Another session that begins where this one is, with the same options. From here on neither sees the other.
    ///
    /// What the interpreter holds is the same in both, the state of its random generators as well; what it asks the
    /// machine for, like `os.urandom`, is not.
    ///
    /// # Errors
    /// The sandbox's own failures.
    pub fn fork(&mut self) -> Result<Self> {
        let state = self.state(Pages::default());
        let mut fork = Self::new(self.image.clone(), self.options.clone())?;
        fork.go_back(state);
        Ok(fork)
    }

    /// Copies a host file into `/work` under its own name.
    pub fn put_file(&mut self, host: &Path) -> Result<()> {
        self.scratch.put(host)
    }

    /// Copies every regular file of `/work` that cells created or modified into the host folder `to`, and names them.
    pub fn export(&self, to: &Path) -> Result<Vec<String>> {
        self.scratch.export(to)
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

    /// Ends the interpreter: its exit handlers run within what the last cell left of its limits, and what they print
    /// and how they end is the outcome. `None` when nothing ran that could have left any, and when no time is left for
    /// them. The files stay, and a later cell starts a fresh interpreter.
    ///
    /// # Errors
    /// The sandbox's own failures; the interpreter is gone then too.
    pub fn finish(&mut self, cancel: &Cancel) -> Result<Option<Outcome>> {
        let nothing = self.instance.is_none() && self.resume.is_none();
        if nothing || self.spent.wall >= self.options.limits.wall {
            self.restart();
            return Ok(None);
        }
        let end = self.turn("__import__('_slm_cell').finish()".to_owned(), cancel);
        self.restart();
        let (turn, memory_bytes) = end?;
        Ok(Some(self.outcome(turn, memory_bytes, None, cancel)))
    }

    /// Keeps the state as it is now, for an undo.
    fn keep(&mut self) {
        let reused = self.before.take().map(State::into_pages).unwrap_or_default();
        if self.options.undo {
            self.before = Some(self.state(reused));
        }
    }

    /// The state as it is now; the pages of a live interpreter are copied into `reused`.
    fn state(&mut self, reused: Pages) -> State {
        let machine = match &mut self.instance {
            Some(instance) => Some(Arc::new(instance.capture(&self.image.finder, reused))),
            None => self.resume.clone(),
        };
        State { machine, cells: self.cells, bindings: self.bindings.clone() }
    }

    fn go_back(&mut self, state: State) {
        self.instance = None;
        self.resume = state.machine;
        self.cells = state.cells;
        self.bindings = state.bindings;
    }

    /// Goes back to before a cell whose interpreter died, and says so.
    fn undo_after(&mut self, end: &End) -> String {
        let why = match end {
            End::Exited(_) => "os._exit".to_owned(),
            End::Timeout => "the wall limit".to_owned(),
            End::Fuel => "the fuel limit".to_owned(),
            End::Memory => "the memory limit".to_owned(),
            End::Cancelled => "the cancellation".to_owned(),
            End::Crashed(why) => format!("a crash ({why})"),
            End::Returned(_) => return String::new(),
        };
        if let Some(before) = self.before.take() {
            self.go_back(before);
            return format!("the cell was undone: after {why} the session goes on from the state before it");
        }
        self.restart();
        format!(
            "the state was reset: after {why} the session goes on in a fresh interpreter, with its files but without its variables"
        )
    }

    /// Enters the interpreter, which is gone afterwards if it died. Gives the size of its memory too.
    fn turn(&mut self, code: String, cancel: &Cancel) -> Result<(Turn, u64)> {
        let instance = self.ready(cancel)?;
        let (image, running) = (self.image.clone(), cancel.clone());
        let wall = self.options.limits.wall.saturating_sub(self.spent.wall);
        let fuel = self.options.limits.fuel.map(|fuel| fuel.saturating_sub(self.spent.fuel));
        let ran = self.image.workers.run(cancel, instance, move |mut instance| {
            let turn = instance.turn(&code, wall, fuel, &running, &image.ticker);
            (turn, instance)
        });
        let (turn, instance) = match ran {
            Ok(ran) => ran,
            Err(refused) => {
                self.instance = refused.given;
                return Err(refused.error);
            }
        };
        let turn = turn?;
        self.spent.wall += turn.wall;
        self.spent.fuel += turn.fuel;
        let memory_bytes = instance.memory_bytes();
        self.instance = turn.end.is_alive().then_some(instance);
        Ok((turn, memory_bytes))
    }

    /// The live interpreter, or one that starts where the last one stood.
    fn ready(&mut self, cancel: &Cancel) -> Result<Box<Instance>> {
        if let Some(instance) = self.instance.take() {
            return Ok(instance);
        }
        let (work, tmp) = (self.scratch.folder().work(), self.scratch.folder().tmp());
        let mounts = Mounts { work: &work, tmp: &tmp, ..self.image.mounts() };
        let limits = &self.options.limits;
        let memory = MemoryCap::new(limits.memory, self.image.budget.charge());
        let mut guest = Guest::new(&mounts, memory, limits.output).or_internal("opening the interpreter's folders")?;
        guest.inbox = Inbox::new(limits.display, limits.displays);
        let mut instance = Box::new(Instance::new(&self.image.pre, guest)?);
        instance.show_fresh(&self.image.finder);
        let instance = match &self.resume {
            Some(machine) => instance.resume(machine).map(|()| instance)?,
            None => self.begin(instance, cancel)?,
        };
        self.resume = None;
        Ok(instance)
    }

    /// Gives a fresh interpreter its arguments and bindings.
    fn begin(&self, instance: Box<Instance>, cancel: &Cancel) -> Result<Box<Instance>> {
        let mut argv = vec!["cell"];
        argv.extend(self.options.args.iter().map(String::as_str));
        let Limits { display, displays, .. } = self.options.limits;
        let settings = json!({ "argv": argv, "bind": *self.bindings, "display": display, "displays": displays });
        self.prepare(instance, "start", &settings.to_string(), cancel)
    }

    /// Calls one of the driver's functions that run nothing of the guest's, with a JSON text. Only the wait for a thread
    /// can be cancelled.
    fn prepare(
        &self,
        instance: Box<Instance>,
        function: &str,
        settings: &str,
        cancel: &Cancel,
    ) -> Result<Box<Instance>> {
        let code = format!("__import__('_slm_cell').{function}({})", literal(settings));
        let image = self.image.clone();
        let ran = self.image.workers.run(cancel, instance, move |mut instance| {
            let turn = instance.turn(&code, START, None, &Cancel::new(), &image.ticker);
            (turn, instance)
        });
        let (turn, instance) = ran.map_err(|refused| refused.error)?;
        let turn = turn?;
        match turn.end {
            End::Returned(0) => Ok(instance),
            end => Err(Error::internal(format_args!("{end:?}: {}", turn.stderr.text)).context("preparing a session")),
        }
    }

    fn outcome(&mut self, turn: Turn, memory_bytes: u64, note: Option<String>, cancel: &Cancel) -> Outcome {
        let limits = self.options.limits.clone();
        let (status, exit_code) = status(&turn.end, turn.inbox.exit);
        let truncated = [("stdout", &turn.stdout), ("stderr", &turn.stderr)];
        let truncated = truncated.into_iter().filter_map(|(stream, printed)| cut(stream, printed)).collect();
        let files = self.scratch.changes(cancel);
        Outcome {
            status,
            truncated,
            result: turn.inbox.result.filter(|_| status == Status::Ok),
            displays: turn.inbox.displays,
            error: (status == Status::Error).then(|| turn.inbox.error.unwrap_or_else(unreported)),
            exit_code,
            limit: limit(status, &limits, self.spent, memory_bytes),
            files,
            usage: Usage {
                wall: turn.wall,
                fuel: turn.fuel,
                metering: "wasmtime",
                memory_bytes,
                scratch_bytes: self.scratch.bytes(),
            },
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

fn limit(status: Status, limits: &Limits, spent: Spent, memory: u64) -> Option<LimitHit> {
    let Spent { wall, fuel } = spent;
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
            allowed: float(limits.fuel.unwrap_or(fuel)),
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
}
