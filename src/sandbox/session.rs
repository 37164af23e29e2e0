//! One interpreter whose variables persist from cell to cell.

mod workspace;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::budget::{Charge, Place};
use super::files::tree::Tree;
use super::files::{Files, Mounts};
use super::guest::World;
use super::image::Image;
use super::instance::Turn;
use super::options::{OnError, SessionOptions};
use super::outcome::{FileChange, Outcome, Status, Usage};
use super::scratch::{Scratch, changes};
use super::snapshot::literal;
use super::state::{Checkpoint, Interpreter, State};
use super::verdict::{Spent, cut, death, left, limit, status, unreported};
use super::visit::{Body, Called, Visit};
use crate::{Cancel, Error, Result};

/// One interpreter whose variables persist from cell to cell, with a `/work` of its own.
///
/// A session survives whatever a cell does. After an exception it keeps what the cell did, unless
/// [`SessionOptions::on_error`] says otherwise; after a stop, a trap or `os._exit` it goes on from the state before the
/// cell, and the outcome's `note` says so.
pub struct Session {
    image: Arc<Image>,
    options: SessionOptions,
    body: Body,
    /// Texts that every fresh interpreter is given as global variables, and those that the next cell brings.
    bindings: Arc<BTreeMap<String, String>>,
    pending: BTreeMap<String, String>,
    /// The folders of the host that it sees, whatever a state it goes back to has seen.
    mounts: Arc<Mounts>,
    scratch: Scratch,
    cells: u32,
    /// The state before the last cell, unless that is undone already.
    before: Option<State>,
    /// A stop took the variables, since nothing was kept; no cell has run since.
    lost: bool,
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
        if options.on_error == OnError::Rewind && !options.undo {
            return Err(Error::usage("cells that fail cannot be undone without undo").advise("start it with undo"));
        }
        let place = image.budget.place()?;
        let (clock, entropy) = options.time_and_entropy(image.metering);
        let mounts = options.see(&image.mounts)?;
        let files = Files::new(mounts.clone(), options.quota(), options.limits.open_files, clock.wall(0));
        let world = World { files, clock, entropy };
        Ok(Self {
            body: Body::Resting { interpreter: Interpreter::Fresh, world },
            bindings: Arc::default(),
            pending: BTreeMap::new(),
            mounts,
            scratch: Scratch::default(),
            cells: 0,
            before: None,
            lost: false,
            spent: Spent::default(),
            charge: image.budget.charge(),
            _place: place,
            options,
            image,
        })
    }

    /// Runs one cell. What Python did wrong is in the outcome; an error is the sandbox's own, and the session is as it
    /// was before (without [`SessionOptions::undo`] an interpreter that was live is gone then, and its variables with it).
    ///
    /// At most [`Capacity::workers`](crate::Capacity::workers) cells run at once, and a further one waits for its turn;
    /// its wall limit counts from when it starts. A cell that is cancelled before that has the status `cancelled` too,
    /// and leaves the session as it was.
    ///
    /// # Errors
    /// [`is_busy`](Error::is_busy) when sessions hold all the memory they may; texts that were bound and do not fit.
    pub fn exec(&mut self, code: &str, cancel: &Cancel) -> Result<Outcome> {
        self.spent = Spent::default();
        if cancel.is_cancelled() {
            return Ok(self.never_ran());
        }
        self.limit_files();
        let number = self.cells.saturating_add(1);
        let call = format!("__import__('_slm_cell').run({}, {number})", literal(code));
        let Some(Called { turn, instance, memory_bytes }) = self.visit(call, true, cancel)? else {
            return Ok(self.never_ran());
        };
        (self.cells, self.lost) = (number, false);
        let (status, _) = status(&turn.end, turn.inbox.exit);
        let note = match death(&turn.end) {
            Some(why) => Some(self.undo_after(&why)),
            None => {
                if let Some(instance) = instance {
                    self.body = Body::Live(instance);
                }
                (status != Status::Ok && self.options.on_error == OnError::Rewind).then(|| self.undo_as_asked())
            }
        };
        let files = self.before.as_ref().map(|before| changes(before.world.files.tree(), self.tree(), cancel));
        self.charge_files();
        Ok(self.outcome(turn, memory_bytes, files.unwrap_or_default(), note))
    }

    /// Binds a text to a global variable, for the next cell and for every fresh interpreter.
    ///
    /// # Errors
    /// A name that Python would not take for a variable. Whether the text fits is seen by the next cell.
    pub fn bind_text(&mut self, name: &str, text: &str) -> Result<()> {
        let plain =
            name.chars().enumerate().all(|(at, c)| c == '_' || c.is_ascii_alphabetic() || at > 0 && c.is_ascii_digit());
        if name.is_empty() || !plain {
            return Err(Error::usage(format_args!("{name:?} cannot be the name of a variable")));
        }
        self.pending.insert(name.to_owned(), text.to_owned());
        Ok(())
    }

    /// A fresh interpreter over the same files, bindings and arguments. It cannot be undone.
    pub fn restart(&mut self) {
        let mut world = self.world().clone();
        world.files.close_all();
        self.body = Body::Resting { interpreter: Interpreter::Fresh, world };
        (self.before, self.lost) = (None, false);
    }

    /// Undoes the last cell, variables and files, and says whether there was one to undo: a cell that was stopped is
    /// undone already, and only the last one can be. Files that were put since go too.
    ///
    /// # Errors
    /// A session without [`SessionOptions::undo`], and one whose state was too large to keep.
    pub fn rewind(&mut self) -> Result<bool> {
        if !self.options.undo {
            return Err(Error::usage("this session keeps nothing to go back to").advise("start it with undo"));
        }
        if matches!(&self.before, Some(State { interpreter: Interpreter::Lost, .. })) {
            return Err(Error::busy("there was no memory left to keep the state before the last cell"));
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
    ///
    /// # Errors
    /// [`is_busy`](Error::is_busy) when it does not fit into [`Capacity::memory`](crate::Capacity::memory).
    pub fn checkpoint(&mut self) -> Result<Checkpoint> {
        let interpreter = match &mut self.body {
            Body::Live(instance) => {
                let machine = instance.capture(&self.image.finder, self.options.told());
                machine.map_or(Interpreter::Lost, |machine| Interpreter::keep(machine, self.image.budget.charge()))
            }
            Body::Resting { interpreter, .. } => interpreter.clone(),
        };
        let mut files = self.image.budget.charge();
        if matches!(interpreter, Interpreter::Lost) || !files.set(self.tree().used().bytes) {
            return Err(Error::busy("there is no memory left to keep a session's state")
                .advise("drop checkpoints and sessions that are no longer used, or raise Capacity::memory"));
        }
        Ok(Checkpoint::new(self.image.clone(), self.state(interpreter, self.world().clone()), files))
    }

    /// Makes the session what it was, or what another session of the same image was, at a checkpoint. Its limits and
    /// options stay its own.
    ///
    /// # Errors
    /// A checkpoint of another image, or one that holds more than this session's limits allow or uses packages that this
    /// session has not.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        let state = checkpoint.state(&self.image)?;
        state.fits(&self.options.limits)?;
        self.options.has(state.packages())?;
        self.go_back(state);
        self.before = None;
        self.adopt_world();
        Ok(())
    }

    /// Another session that begins where this one is, with the same options. From here on neither sees the other.
    ///
    /// What the interpreter holds is the same in both, the state of its random generators as well; what it asks the
    /// machine for, like `os.urandom`, is not, unless the session is deterministic.
    ///
    /// # Errors
    /// As [`checkpoint`](Self::checkpoint), and [`is_busy`](Error::is_busy) when there are too many sessions.
    pub fn fork(&mut self) -> Result<Self> {
        let checkpoint = self.checkpoint()?;
        let mut fork = Self::new(self.image.clone(), self.options.clone())?;
        fork.restore(&checkpoint)?;
        Ok(fork)
    }

    /// Writes the session into one file: variables, files, counters. It can be [loaded](Self::load) where the image has
    /// the same snapshot, as when it is built from the same parts on a machine of this kind. An interrupted save leaves
    /// what was there.
    ///
    /// # Errors
    /// What the system says of the file, and a session whose variables a stop has taken for want of memory to keep them.
    pub fn save(&mut self, path: &Path) -> Result<()> {
        if self.lost {
            return Err(Error::usage(
                "a stop took the session's variables, since there was no room to keep them: it is not saved",
            ));
        }
        self.checkpoint()?.save(&self.options, path)
    }

    /// The session that [`save`](Self::save) wrote. Limits and habits are those of `options`, arguments the saved ones; it
    /// is deterministic if it was, with its own seed, or if `options` say so.
    ///
    /// # Errors
    /// A file that is damaged, of another image, or holds more than the limits allow.
    pub fn load(python: &super::Python, path: &Path, mut options: SessionOptions) -> Result<Self> {
        let image = &python.0;
        let state = State::load(image, path, &mut options)?;
        let mut session = Self::new(image.clone(), options)?;
        session.go_back(state);
        session.adopt_world();
        Ok(session)
    }

    /// Ends the interpreter: its exit handlers run within what the last cell left of its limits, and what they print
    /// and how they end is the outcome. `None` when nothing ran that could have left any, when nothing is left for them,
    /// and after a cancel. The files stay, and a later cell starts a fresh interpreter.
    ///
    /// # Errors
    /// The sandbox's own failures; the interpreter is gone then too.
    pub fn finish(&mut self, cancel: &Cancel) -> Result<Option<Outcome>> {
        let (wall, fuel) = left(&self.options, self.image.metering, self.spent);
        if !self.body.has_run() || wall.is_zero() || fuel == Some(0) || cancel.is_cancelled() {
            self.restart();
            return Ok(None);
        }
        self.limit_files();
        let before = self.world().clone();
        let called = self.visit("__import__('_slm_cell').finish()".to_owned(), false, cancel);
        let Ok(Some(Called { turn, instance, memory_bytes })) = called else {
            self.restart();
            return called.map(|_| None);
        };
        // What handlers did that did not come to their end is undone with the interpreter.
        if let Some(instance) = instance {
            self.body = Body::Live(instance);
        }
        self.restart();
        let files = changes(before.files.tree(), self.tree(), cancel);
        self.charge_files();
        Ok(Some(self.outcome(turn, memory_bytes, files, None)))
    }

    /// Files, clock and random source as they are now.
    fn world(&self) -> &World {
        self.body.world()
    }

    fn tree(&self) -> &Tree {
        self.world().files.tree()
    }

    /// The session's state, with these for its interpreter and its world.
    fn state(&self, interpreter: Interpreter, world: World) -> State {
        State { interpreter, world, scratch: self.scratch.clone(), cells: self.cells, bindings: self.bindings.clone() }
    }

    /// After a state came from elsewhere: limits, kind of time and the host's folders are this session's own.
    fn adopt_world(&mut self) {
        let world = self.body.world_mut();
        world.adopt(&self.options, self.image.metering);
        world.files.see(&self.mounts);
        self.charge_files();
    }

    fn go_back(&mut self, state: State) {
        let State { interpreter, mut world, scratch, cells, bindings } = state;
        self.lost = matches!(interpreter, Interpreter::Lost);
        let interpreter = if self.lost { Interpreter::Fresh } else { interpreter };
        if matches!(interpreter, Interpreter::Fresh) {
            world.files.close_all();
        }
        self.body = Body::Resting { interpreter, world };
        (self.scratch, self.bindings) = (scratch, bindings);
        // No two cells of a session have one number, undone ones included: it is what tracebacks call them.
        self.cells = self.cells.max(cells);
    }

    /// Goes back to before a cell whose interpreter died, and says so.
    fn undo_after(&mut self, why: &str) -> String {
        if let Some(before) = self.before.take() {
            self.go_back(before);
        }
        if self.lost {
            return format!(
                "the state was reset: after {why} the session goes on in a fresh interpreter, without its variables, and \
                 with its files as they were before the cell"
            );
        }
        format!("the cell was undone: after {why} the session goes on from the state before it")
    }

    /// Undoes a cell that failed; what could not be kept stays.
    fn undo_as_asked(&mut self) -> String {
        match self.rewind() {
            Ok(_) => "what the cell did was undone, as asked for cells that fail".to_owned(),
            Err(error) => format!("what the cell did could not be undone: {error}"),
        }
    }

    /// Before files can be used: opens the streams again that a cell has closed, counts the files that are there, and
    /// lets them grow no further than all sessions may together.
    fn limit_files(&mut self) {
        let (mut quota, used) = (self.options.quota(), self.tree().used().bytes);
        // What is there is there: when it does not fit, nothing can be added.
        let room = if self.charge.set(used) { self.image.budget.left() } else { 0 };
        quota.bytes = quota.bytes.min(used.saturating_add(room));
        let world = self.body.world_mut();
        world.files.reopen_streams();
        if world.files.tree().quota() != quota {
            world.files.tree_mut().set_quota(quota);
        }
    }

    /// After files may have grown. What the state before the last cell holds besides is charged too; if that does not fit,
    /// the cell cannot be undone any more.
    fn charge_files(&mut self) {
        let now = self.tree().used().bytes;
        let earlier = self.before.as_ref().map_or(0, |before| {
            let tree = before.world.files.tree();
            if tree.is_same(self.tree()) { 0 } else { tree.used().bytes }
        });
        if !self.charge.set(now.saturating_add(earlier)) {
            let world = self.world().clone();
            if let Some(before) = &mut self.before {
                (before.interpreter, before.world) = (Interpreter::Lost, world);
            }
            // What it grew by while others did too was bounded by its own limit.
            let _ = self.charge.set(now);
        }
    }

    /// Enters the interpreter with one call, and keeps the state of before it if that is wanted. `None` when it was
    /// cancelled before its turn: then the session is as it was. An interpreter that lives is the caller's to put back;
    /// until then, and after an error, the session rests where it was before the call.
    fn visit(&mut self, code: String, keep: bool, cancel: &Cancel) -> Result<Option<Called>> {
        let (wall, fuel) = left(&self.options, self.image.metering, self.spent);
        let mut bindings = self.bindings.clone();
        if !self.pending.is_empty() {
            Arc::make_mut(&mut bindings).extend(self.pending.clone());
        }
        let (start, bind) = match self.body.has_run() {
            true => (None, (!self.pending.is_empty()).then(|| json!(self.pending).to_string())),
            false => (Some(self.start(&bindings)), None),
        };
        // Until it is back: the same session without what cannot be in two places.
        let resting = Body::Resting { interpreter: Interpreter::Fresh, world: self.world().clone() };
        let visit = Visit {
            image: self.image.clone(),
            body: std::mem::replace(&mut self.body, resting),
            keep: (keep && self.options.undo).then(|| {
                let before = self.before.as_mut();
                before
                    .map_or(Interpreter::Fresh, |before| std::mem::replace(&mut before.interpreter, Interpreter::Lost))
            }),
            limits: self.options.limits.clone(),
            told: self.options.told(),
            wall,
            fuel,
            cancel: cancel.clone(),
            start,
            bind,
            code,
        };
        let number = self.cells.saturating_add(1);
        let ran = self.image.workers.run(cancel, Box::new(visit), move |visit| {
            log::debug!("cell {number} runs");
            visit.make()
        });
        let visited = match ran {
            Ok(visited) => visited,
            Err(refused) => {
                if let Some(visit) = refused.given {
                    self.body = visit.body;
                    if let (Some(kept), Some(before)) = (visit.keep, &mut self.before) {
                        before.interpreter = kept;
                    }
                }
                return if refused.error.is_cancelled() { Ok(None) } else { Err(refused.error) };
            }
        };
        let before = self.state(visited.interpreter, visited.world);
        match visited.result {
            Ok(called) => {
                self.bindings = bindings;
                self.pending.clear();
                self.spent.machine += called.turn.machine;
                self.spent.fuel += called.turn.fuel;
                if keep {
                    self.before = Some(State { bindings: self.bindings.clone(), ..before });
                }
                Ok(Some(called))
            }
            Err(error) => {
                self.pending.clear();
                self.go_back(before);
                self.before = None;
                if error.is_cancelled() { Ok(None) } else { Err(error) }
            }
        }
    }

    /// What a fresh interpreter is told, as JSON.
    fn start(&self, bindings: &BTreeMap<String, String>) -> String {
        let mut settings = self.options.told().settings();
        let argv: Vec<_> = ["cell"].into_iter().chain(self.options.args.iter().map(String::as_str)).collect();
        settings.extend([("argv".to_owned(), json!(argv)), ("bind".to_owned(), json!(bindings))]);
        Value::Object(settings).to_string()
    }

    /// Of a cell that was cancelled before it began.
    fn never_ran(&self) -> Outcome {
        Outcome {
            status: Status::Cancelled,
            usage: Usage {
                metering: self.image.metering.name(),
                memory_bytes: self.image.memory_bytes(),
                scratch_bytes: self.tree().used().bytes,
                ..Usage::default()
            },
            note: Some("the cell was cancelled before it began".to_owned()),
            ..Outcome::default()
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
            limit: limit(status, &self.options, self.image.metering, self.spent, memory_bytes),
            files,
            usage: Usage {
                wall: turn.wall,
                fuel: turn.fuel,
                metering: self.image.metering.name(),
                memory_bytes,
                scratch_bytes: self.tree().used().bytes,
            },
            note,
            stdout: turn.stdout.text,
            stderr: turn.stderr.text,
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("options", &self.options).field("cells", &self.cells).finish_non_exhaustive()
    }
}
