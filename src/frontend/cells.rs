//! Cells without a model: one session, its cells in order, its end. The one call behind `exec` and `/v1/exec`.

use std::path::{Path, PathBuf};

use crate::error::OrInternal;
use crate::interpreter::end;
use crate::sandbox::{Outcome, Python, SessionOptions, Status};
use crate::{Cancel, Error, Result, Session};

/// What to run in one session.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub code: Vec<String>,
    pub options: SessionOptions,
    /// Copied into `/work` first.
    pub files: Vec<PathBuf>,
    /// Go on after a cell that is not `ok`.
    pub keep_going: bool,
}

/// What became of them.
pub struct Ran {
    /// Of the cells that ran, in order.
    pub outcomes: Vec<Outcome>,
    /// At its end, with the files in it.
    pub session: Session,
    /// Why its exit handlers could not be run, which is no reason to lose what the cells did.
    pub trouble: Option<Error>,
}

impl Cells {
    /// Runs them. What the session's end (its exit handlers) printed or did belongs to the last one. `seen` hears of
    /// each cell, and whether another follows it, and of the end, as soon as it is over.
    pub fn run(self, python: &Python, cancel: &Cancel, seen: &mut dyn FnMut(&Outcome, bool)) -> Result<Ran> {
        let mut session = python.session(self.options)?;
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
        let mut trouble = None;
        if let Some(last) = outcomes.last_mut().filter(|_| !cancel.is_cancelled()) {
            match session.finish(cancel) {
                Ok(None) => {}
                Ok(Some(end)) => {
                    seen(&end, false);
                    append_end(last, end);
                }
                Err(error) => trouble = Some(error.context("the exit handlers could not be run")),
            }
        }
        Ok(Ran { outcomes, session, trouble })
    }
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

/// Copies what changed under `/work` into `out`, which is made when it is not there.
pub fn export(session: &Session, out: &Path) -> Result<Vec<String>> {
    std::fs::create_dir_all(out).or_internal(format!("cannot make the folder {}", out.display()))?;
    session.export(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;

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
