//! Cells without a model: one session, fresh or loaded, its cells in order, its end or its saved form. The one call behind `exec` and `/v1/exec`.

use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::interpreter::end;
use crate::sandbox::{Outcome, Python, SessionOptions, Status};
use crate::{Cancel, Error, Result, Session};

/// What to run in one session.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub code: Vec<String>,
    pub options: SessionOptions,
    /// A saved session to go on from, instead of a fresh one.
    pub load: Option<PathBuf>,
    /// Copied into `/work` first.
    pub files: Vec<PathBuf>,
    /// Go on after a cell that is not `ok`.
    pub keep_going: bool,
    /// Where the session is written after its last cell. It has no end then: its exit handlers stay in it, for whoever
    /// goes on from there.
    pub save: Option<PathBuf>,
}

/// What became of them.
pub struct Ran {
    /// Of the cells that ran, in order.
    pub outcomes: Vec<Outcome>,
    /// At its end, with the files in it.
    pub session: Session,
    /// Why its exit handlers could not be run, or it could not be saved, which is no reason to lose what the cells did.
    pub trouble: Option<Error>,
}

/// Refuses places to load from and save to that cannot serve, before any time is spent.
pub fn check(load: Option<&Path>, save: Option<&Path>) -> Result<()> {
    let regular = |file: &Path| match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => Err(Error::usage("not a regular file")),
        found => Ok(found),
    };
    if let Some(file) = load {
        regular(file).and_then(|found| found.map_err(Error::usage)).map_err(|error| error.context(loading(file)))?;
    }
    if let Some(file) = save {
        // A rename would put a file in the place of a device or a pipe.
        let place = regular(file).and_then(|_| beside(file).map_err(Error::usage));
        place.map_err(|error| error.context(saving(file)))?;
    }
    Ok(())
}

impl Cells {
    /// Runs them. What the session's end (its exit handlers) printed or did belongs to the last one. `seen` hears of
    /// each cell, and whether another follows it, and of the end, as soon as it is over.
    ///
    /// However the cells ended, also if they were cancelled, what they left is saved. A failure of the sandbox itself
    /// saves nothing.
    pub fn run(self, python: &Python, cancel: &Cancel, seen: &mut dyn FnMut(&Outcome, bool)) -> Result<Ran> {
        let mut session = match &self.load {
            Some(file) => Session::load(python, file, self.options)?,
            None => python.session(self.options)?,
        };
        for file in &self.files {
            session.put_file(file)?;
        }
        let mut outcomes = Vec::with_capacity(self.code.len());
        for (index, code) in self.code.iter().enumerate() {
            log::debug!("cell {} of {} begins", index + 1, self.code.len());
            let outcome = session.exec(code, cancel)?;
            let stops = outcome.status == Status::Cancelled || (outcome.status != Status::Ok && !self.keep_going);
            let another = !stops && index + 1 < self.code.len();
            seen(&outcome, another);
            outcomes.push(outcome);
            if !another {
                break;
            }
        }
        let trouble = match (outcomes.last_mut(), &self.save) {
            (None, _) => None,
            (Some(_), Some(file)) => session.save(file).err(),
            (Some(last), None) => end(&mut session, last, cancel, seen),
        };
        Ok(Ran { outcomes, session, trouble })
    }
}

/// Ends the session, unless it was cancelled, and adds what that did to its last cell; gives why it could not.
fn end(
    session: &mut Session,
    last: &mut Outcome,
    cancel: &Cancel,
    seen: &mut dyn FnMut(&Outcome, bool),
) -> Option<Error> {
    if cancel.is_cancelled() {
        return None;
    }
    match session.finish(cancel) {
        Ok(None) => None,
        Ok(Some(end)) => {
            seen(&end, false);
            append_end(last, end);
            None
        }
        Err(error) => Some(error.context("the exit handlers could not be run")),
    }
}

/// An empty file of our own in the folder of `file`; it goes when it is dropped.
fn beside(file: &Path) -> std::io::Result<NamedTempFile> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".saving-").tempfile_in(folder)
}

fn loading(file: &Path) -> String {
    format!("cannot load the session {}", file.display())
}

fn saving(file: &Path) -> String {
    format!("cannot save the session to {}", file.display())
}

/// Adds what the session's end did to its last cell. An end that is not `ok` decides how the cell ended.
fn append_end(last: &mut Outcome, end: Outcome) {
    end::append(last, &end);
    if end.status != Status::Ok {
        last.status = end.status;
        last.error = end.error;
        last.exit_code = end.exit_code;
        last.limit = end.limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;

    #[test]
    fn saved_sessions_need_a_place_that_can_serve() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| Some(folder.path().join(name));
        let check = |load: Option<PathBuf>, save: Option<PathBuf>| check(load.as_deref(), save.as_deref());
        std::fs::write(folder.path().join("old"), "old").unwrap();
        for (load, save) in [(place("old"), place("new")), (place("old"), place("old")), (None, None)] {
            check(load, save).unwrap();
        }
        let missing = check(place("none"), None).unwrap_err();
        assert!(missing.is_usage() && missing.to_string().starts_with("cannot load the session "), "{missing}");
        for (load, save) in [(place(""), None), (None, place("")), (place("old"), place("no/folder"))] {
            assert!(check(load, save).unwrap_err().is_usage());
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["old"], "nothing was written");
        assert_eq!(std::fs::read_to_string(folder.path().join("old")).unwrap(), "old");
    }

    #[test]
    #[cfg(unix)]
    fn a_device_is_no_place_for_a_session() {
        assert!(check(None, Some(Path::new("/dev/null"))).unwrap_err().to_string().ends_with("not a regular file"));
    }

    #[test]
    fn an_end_that_is_well_changes_no_status_and_one_that_hits_a_limit_decides() {
        let mut last = samples::raised("KeyError", "'x'", 2);
        append_end(&mut last, Outcome { stdout: "bye\n".into(), ..samples::outcome(Status::Ok) });
        assert_eq!((last.status, last.stdout.as_str()), (Status::Error, "bye\n"));
        assert_eq!(last.error.as_ref().unwrap().kind, "KeyError");
        append_end(&mut last, samples::timed_out("b"));
        assert_eq!((last.status, last.error), (Status::Timeout, None));
        assert_eq!(last.limit.unwrap().name, "wall");
    }
}
