//! One interpreter whose variables persist from cell to cell.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::budget::{Charge, MemoryCap, Place};
use super::files::Files;
use super::guest::{Guest, World};
use super::image::Image;
use super::instance::{End, Instance, Turn};
use super::options::{OnError, SessionOptions};
use super::outcome::{FileChange, Outcome, Status, Usage};
use super::scratch::{Scratch, changes};
use super::snapshot::literal;
use super::state::{Checkpoint, Interpreter, State};
use super::verdict::{Spent, cut, death, left, limit, status, unreported};
use crate::{Cancel, Error, Result};

/// What our own part of a start may take; it needs well under a millisecond.
const START: Duration = Duration::from_secs(10);

/// One interpreter whose variables persist from cell to cell, with a `/work` of its own.
///
/// A session survives whatever a cell does. After an exception it keeps what the cell did, unless
/// [`SessionOptions::on_error`] says otherwise; after a stop, a trap or `os._exit` it goes on from the state before the
/// cell, and the outcome's `note` says so.
pub struct Session {
    image: Arc<Image>,
    options: SessionOptions,
    bindings: Arc<BTreeMap<String, String>>,
    instance: Option<Box<Instance>>,
    /// What the next interpreter starts from, while none is live: its memory, and what it has outside of it. A live one
    /// has both itself, and what is here is old.
    resume: Interpreter,
    world: World,
    scratch: Scratch,
    cells: u32,
    /// The state before the last cell, unless that is undone already.
    before: Option<State>,
    spent: Spent,
    /// For the bytes of files; memory has charges of its own.
    charge: Charge,
    /// Last, so that it is free for another session when everything else is gone.
    _place: Place,
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
        let (clock, entropy) = options.time_and_entropy();
        let files = Files::new(image.mounts.clone(), options.quota(), options.limits.open_files, clock.wall(0));
        Ok(Self {
            bindings: Arc::default(),
            instance: None,
            resume: Interpreter::Fresh,
            world: World { files, clock, entropy },
            scratch: Scratch::default(),
            cells: 0,
            before: None,
            spent: Spent::default(),
            charge: image.budget.charge(),
            _place: place,
            options,
            image,
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
        self.limit_files();
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
        let note = match death(&turn.end) {
            Some(why) => Some(self.undo_after(&why)),
            None if status != Status::Ok && self.options.on_error == OnError::Rewind => self.undo_as_asked(),
            None => None,
        };
        let files = self.before.as_ref().map(|before| changes(before.world.files.tree(), self.tree(), cancel));
        Ok(self.outcome(turn, memory_bytes, files.unwrap_or_default(), note))
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
        if self.has_run() {
            let (texts, cancel) = (json!({ name: text }).to_string(), Cancel::new());
            let instance = self.ready(&cancel)?;
            self.instance = Some(self.prepare(instance, "bind", &texts, &cancel)?);
        }
        Ok(())
    }

    /// A fresh interpreter over the same files, bindings and arguments. It cannot be undone.
    pub fn restart(&mut self) {
        if let Some(instance) = self.instance.take() {
            self.world = instance.into_world();
        }
        self.world.files.close_all();
        (self.resume, self.before) = (Interpreter::Fresh, None);
    }

    /// Undoes the last cell, variables and files, and says whether there was one to undo: a cell that was stopped is
    /// undone already, and only the last one can be.
    ///
    /// # Errors
    /// A session without [`SessionOptions::undo`], and one whose state was too large to keep.
    pub fn rewind(&mut self) -> Result<bool> {
        match self.before.take() {
            _ if !self.options.undo => {
                Err(Error::usage("this session keeps nothing to go back to").advise("start it with undo"))
            }
            None => Ok(false),
            Some(State { interpreter: Interpreter::Lost, .. }) => {
                Err(Error::busy("there was no memory left to keep the state before the last cell"))
            }
            Some(before) => {
                self.go_back(before);
                Ok(true)
            }
        }
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
    ///
    /// # Errors
    /// [`is_busy`](Error::is_busy) when it does not fit into [`Capacity::memory`](crate::Capacity::memory).
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        let interpreter = match &mut self.instance {
            Some(instance) => {
                let machine = instance.capture(&self.image.finder, self.options.displays());
                machine.map_or(Interpreter::Lost, |machine| Interpreter::keep(machine, self.image.budget.charge()))
            }
            None => self.resume.clone(),
        };
        match interpreter {
            Interpreter::Lost => Err(Error::busy("there is no memory left to keep a session's state")
                .advise("drop checkpoints and sessions that are no longer used, or raise Capacity::memory")),
            interpreter => Ok(Checkpoint::new(self.image.clone(), self.state(interpreter))),
        }
    }

    /// Makes the session what it was, or what another session of the same image was, at a checkpoint. Its limits and
    /// options stay its own.
    ///
    /// # Errors
    /// A checkpoint of another image, or one that holds more than this session's limits allow.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let state = checkpoint.state(&self.image)?;
        state.fits(&self.options.limits)?;
        self.go_back(state);
        self.before = None;
        self.world.adopt(&self.options);
        Ok(())
    }

    /// Another session that begins where this one is, with the same options. From here on neither sees the other.
    ///
    /// What the interpreter holds is the same in both, the state of its random generators as well; what it asks the
    /// machine for, like `os.urandom`, is not.
    ///
    /// # Errors
    /// As [`checkpoint`](Self::checkpoint), and [`is_busy`](Error::is_busy) when there are too many sessions.
    pub fn fork(&mut self) -> Result<Self> {
        let checkpoint = self.checkpoint()?;
        let mut fork = Self::new(self.image.clone(), self.options.clone())?;
        fork.restore(&checkpoint)?;
        Ok(fork)
    }

    /// Writes the session into one file: variables, files, counters. It can be [loaded](Self::load) on any machine
    /// whose image was built from the same parts. An interrupted save leaves what was there.
    ///
    /// # Errors
    /// What the system says of the file, and a session whose state a stop has lost for want of memory to keep it.
    pub fn save(&mut self, path: &Path) -> Result<()> {
        if matches!(self.resume, Interpreter::Lost) && self.instance.is_none() {
            return Err(Error::usage("the session's variables were lost by a stop: there is nothing to save"));
        }
        self.checkpoint()?.save(&self.options, path)
    }

    /// The session that [`save`](Self::save) wrote. Limits and habits are those of `options`, arguments the saved ones; it
    /// is deterministic if it was, or if `options` say so.
    ///
    /// # Errors
    /// A file that is damaged, of another image, or holds more than the limits allow.
    pub fn load(python: &super::Python, path: &Path, mut options: SessionOptions) -> Result<Self> {
        let image = &python.0;
        let state = State::load(image, path, &mut options)?;
        let mut session = Self::new(image.clone(), options)?;
        session.go_back(state);
        session.world.adopt(&session.options);
        Ok(session)
    }

    /// Copies a host file into `/work` under its own name.
    ///
    /// # Errors
    /// A file that cannot be read, a name that is taken, and what does not fit into the limits.
    pub fn put_file(&mut self, host: &Path) -> Result<()> {
        self.limit_files();
        let world = match &mut self.instance {
            Some(instance) => instance.world_mut(),
            None => &mut self.world,
        };
        let now = world.clock.wall(0);
        self.scratch.put(world.files.tree_mut(), host, now)
    }

    /// Copies every file of `/work` that cells created or modified into the host folder `to`, and names them.
    pub fn export(&self, to: &Path) -> Result<Vec<String>> {
        self.scratch.export(self.tree(), to)
    }

    /// Ends the interpreter: its exit handlers run within what the last cell left of its limits, and what they print
    /// and how they end is the outcome. `None` when nothing ran that could have left any, and when no time is left for
    /// them. The files stay, and a later cell starts a fresh interpreter.
    ///
    /// # Errors
    /// The sandbox's own failures; the interpreter is gone then too.
    pub fn finish(&mut self, cancel: &Cancel) -> Result<Option<Outcome>> {
        if !self.has_run() || left(&self.options, self.spent).0.is_zero() {
            self.restart();
            return Ok(None);
        }
        let before = self.now().clone();
        let end = self.turn("__import__('_slm_cell').finish()".to_owned(), cancel);
        if let Ok((turn, _)) = &end
            && death(&turn.end).is_some()
        {
            self.world = before.clone();
        }
        self.restart();
        let (turn, memory_bytes) = end?;
        let files = changes(before.files.tree(), self.tree(), cancel);
        Ok(Some(self.outcome(turn, memory_bytes, files, None)))
    }

    /// Whether a cell has entered the interpreter that is live, or that the next one starts from.
    fn has_run(&self) -> bool {
        self.instance.is_some() || matches!(self.resume, Interpreter::Kept(_))
    }

    /// Files, clock and random source as they are now.
    fn now(&self) -> &World {
        self.instance.as_ref().map_or(&self.world, |instance| instance.world())
    }

    fn tree(&self) -> &super::files::tree::Tree {
        self.now().files.tree()
    }

    /// Keeps the state as it is now, for an undo. Without one, what is live is not copied.
    fn keep(&mut self) {
        let kept = self.before.take().map(|state| state.interpreter.into_pages()).unwrap_or_default();
        let interpreter = match &mut self.instance {
            Some(instance) if self.options.undo => {
                let machine = instance.keep(&self.image.finder, kept, self.options.displays());
                machine.map_or(Interpreter::Lost, |machine| Interpreter::keep(machine, self.image.budget.charge()))
            }
            Some(_) => Interpreter::Lost,
            None => self.resume.clone(),
        };
        self.before = Some(self.state(interpreter));
    }

    /// The state as it is now, with this for its interpreter.
    fn state(&self, interpreter: Interpreter) -> State {
        State {
            interpreter,
            world: self.now().clone(),
            scratch: self.scratch.clone(),
            cells: self.cells,
            bindings: self.bindings.clone(),
        }
    }

    fn go_back(&mut self, state: State) {
        self.instance = None;
        self.resume = state.interpreter;
        self.world = state.world;
        self.scratch = state.scratch;
        self.cells = state.cells;
        self.bindings = state.bindings;
        if !self.has_run() {
            self.world.files.close_all();
        }
    }

    /// Goes back to before a cell whose interpreter died, and says so.
    fn undo_after(&mut self, why: &str) -> String {
        if let Some(before) = self.before.take() {
            self.go_back(before);
        }
        match self.resume {
            Interpreter::Lost => format!(
                "the state was reset: after {why} the session goes on in a fresh interpreter, without its variables, and \
                 with its files as they were before the cell"
            ),
            _ => format!("the cell was undone: after {why} the session goes on from the state before it"),
        }
    }

    /// Undoes a cell that failed; what could not be kept stays.
    fn undo_as_asked(&mut self) -> Option<String> {
        match self.rewind() {
            Ok(_) => Some("what the cell did was undone, as asked for cells that fail".to_owned()),
            Err(error) => Some(format!("what the cell did could not be undone: {error}")),
        }
    }

    /// Before files can grow: counts those that are there, and lets them grow no further than all sessions may together.
    fn limit_files(&mut self) {
        let (mut quota, used) = (self.options.quota(), self.tree().used().bytes);
        // What is there is there: when it does not fit, nothing can be added.
        let room = if self.charge.set(used) { self.image.budget.left() } else { 0 };
        quota.bytes = quota.bytes.min(used.saturating_add(room));
        let world = match &mut self.instance {
            Some(instance) => instance.world_mut(),
            None => &mut self.world,
        };
        if world.files.tree().quota() != quota {
            world.files.tree_mut().set_quota(quota);
        }
    }

    /// Enters the interpreter, which is gone afterwards if it died. Gives the size of its memory too.
    fn turn(&mut self, code: String, cancel: &Cancel) -> Result<(Turn, u64)> {
        let instance = self.ready(cancel)?;
        let (image, running) = (self.image.clone(), cancel.clone());
        let (wall, fuel) = left(&self.options, self.spent);
        let number = self.cells;
        let ran = self.image.workers.run(cancel, instance, move |mut instance| {
            log::debug!("cell {number} runs");
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
        self.spent.machine += turn.machine;
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
        let limits = &self.options.limits;
        let memory = MemoryCap::new(limits.memory, self.image.budget.charge());
        let guest = Guest::new(self.world.clone(), memory, limits);
        let mut instance = Box::new(Instance::new(&self.image.pre, guest)?);
        instance.show_fresh(&self.image.finder);
        let instance = match &self.resume {
            Interpreter::Kept(kept) => {
                instance.resume(&kept.machine)?;
                let displays = self.options.displays();
                if kept.machine.displays == displays {
                    instance
                } else {
                    let bounds = json!({ "display": displays.0, "displays": displays.1 }).to_string();
                    self.prepare(instance, "bound", &bounds, cancel)?
                }
            }
            Interpreter::Fresh | Interpreter::Lost => self.begin(instance, cancel)?,
        };
        self.resume = Interpreter::Fresh;
        Ok(instance)
    }

    /// Gives a fresh interpreter its arguments and bindings.
    fn begin(&self, instance: Box<Instance>, cancel: &Cancel) -> Result<Box<Instance>> {
        let mut argv = vec!["cell"];
        argv.extend(self.options.args.iter().map(String::as_str));
        let (display, displays) = self.options.displays();
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

    fn outcome(&self, turn: Turn, memory_bytes: u64, files: Vec<FileChange>, note: Option<String>) -> Outcome {
        let (status, exit_code) = status(&turn.end, turn.inbox.exit);
        let truncated = [("stdout", &turn.stdout), ("stderr", &turn.stderr)];
        let truncated = truncated.into_iter().filter_map(|(stream, printed)| cut(stream, printed)).collect();
        Outcome {
            status,
            truncated,
            result: turn.inbox.result.filter(|_| status == Status::Ok),
            displays: turn.inbox.displays,
            error: (status == Status::Error).then(|| turn.inbox.error.unwrap_or_else(unreported)),
            exit_code,
            limit: limit(status, &self.options, self.spent, memory_bytes),
            files,
            usage: Usage {
                wall: turn.wall,
                fuel: turn.fuel,
                metering: "wasmtime",
                memory_bytes,
                scratch_bytes: self.tree().used().bytes,
            },
            note,
            stdout: turn.stdout.text,
            stderr: turn.stderr.text,
        }
    }
}
