//! Cells without a model: one session, its cells in order, its end. The one call behind `exec` and `/v1/exec`.

use std::path::{Path, PathBuf};

use crate::sandbox::{Change, FileChange, Outcome, Python, SessionOptions, Status};
use crate::{Cancel, Result};

/// What to run in one session.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    pub code: Vec<String>,
    pub options: SessionOptions,
    /// Copied into `/work` first.
    pub files: Vec<PathBuf>,
    /// What changed under `/work` is copied here.
    pub out: Option<PathBuf>,
    /// Go on after a cell that is not `ok`.
    pub keep_going: bool,
}

impl Cells {
    /// Runs them and gives the outcomes of those that ran; what the session's end (its atexit handlers) printed or did
    /// belongs to the last one. `seen` hears of each cell, and of the end, as soon as it is over.
    pub fn run(self, python: &Python, cancel: &Cancel, seen: &mut dyn FnMut(&Outcome)) -> Result<Vec<Outcome>> {
        let mut session = python.session(self.options)?;
        for file in &self.files {
            session.put_file(file)?;
        }
        let mut outcomes = Vec::with_capacity(self.code.len());
        for (index, code) in self.code.iter().enumerate() {
            log::debug!("cell {} of {} begins", index + 1, self.code.len());
            let outcome = session.exec(code, cancel)?;
            let status = outcome.status;
            seen(&outcome);
            outcomes.push(outcome);
            if status == Status::Cancelled || (status != Status::Ok && !self.keep_going) {
                break;
            }
        }
        if let Some(out) = &self.out {
            export(&session, out)?;
        }
        if !cancel.is_cancelled() {
            let end = session.finish(cancel)?;
            seen(&end);
            if let Some(last) = outcomes.last_mut() {
                append_end(last, end);
            }
        }
        Ok(outcomes)
    }
}

/// Copies what changed under `/work` into `out`, which is made when it is not there.
pub fn export(session: &crate::Session, out: &Path) -> Result<Vec<String>> {
    use crate::error::OrInternal;
    std::fs::create_dir_all(out).or_internal(format!("cannot make the folder {}", out.display()))?;
    session.export(out)
}

/// Adds what the session's end did to its last cell. An end that is not `ok` decides how the cell ended.
fn append_end(last: &mut Outcome, end: Outcome) {
    last.stdout.push_str(&end.stdout);
    last.stderr.push_str(&end.stderr);
    for cut in end.truncated {
        match last.truncated.iter_mut().find(|other| other.stream == cut.stream) {
            Some(other) => {
                other.kept += cut.kept;
                other.dropped += cut.dropped;
            }
            None => last.truncated.push(cut),
        }
    }
    last.displays.extend(end.displays);
    if end.status != Status::Ok {
        last.status = end.status;
        last.error = end.error;
        last.exit_code = end.exit_code;
        last.limit = end.limit;
    }
    merge_files(&mut last.files, end.files);
    last.usage.wall += end.usage.wall;
    last.usage.fuel += end.usage.fuel;
    last.usage.memory_bytes = last.usage.memory_bytes.max(end.usage.memory_bytes);
    last.usage.scratch_bytes = end.usage.scratch_bytes;
    last.note = match (last.note.take(), end.note) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    };
}

/// Two changes of one file are told as the one change they amount to.
fn merge_files(files: &mut Vec<FileChange>, later: Vec<FileChange>) {
    for mut change in later {
        let Some(at) = files.iter().position(|file| file.path == change.path) else {
            files.push(change);
            continue;
        };
        match (files[at].change, change.change) {
            (Change::Created, Change::Deleted) => {
                files.remove(at);
                continue;
            }
            (Change::Created, _) => change.change = Change::Created,
            (Change::Deleted, Change::Created) => change.change = Change::Modified,
            _ => {}
        }
        files[at] = change;
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::frontend::samples;
    use crate::sandbox::Truncated;

    #[test]
    fn the_end_of_a_session_adds_to_its_last_cell() {
        let mut last =
            Outcome { stdout: "a\n".into(), note: Some("first".into()), ..samples::raised("KeyError", "'x'", 2) };
        last.usage.fuel = 10;
        let mut end = Outcome { stdout: "bye\n".into(), note: Some("second".into()), ..samples::outcome(Status::Ok) };
        end.usage.fuel = 5;
        end.usage.wall = Duration::from_millis(3);
        append_end(&mut last, end);
        assert_eq!(last.stdout, "a\nbye\n");
        assert_eq!(last.status, Status::Error, "an end that is ok changes no status");
        assert_eq!(last.error.as_ref().unwrap().kind, "KeyError");
        assert_eq!((last.usage.fuel, last.usage.wall), (15, Duration::from_millis(3)));
        assert_eq!(last.note.as_deref(), Some("first; second"));
    }

    #[test]
    fn an_end_that_hits_a_limit_decides() {
        let mut last = samples::timed_out("a");
        last.status = Status::Error;
        last.limit = None;
        append_end(&mut last, samples::timed_out("b"));
        assert_eq!(last.status, Status::Timeout);
        assert_eq!(last.limit.unwrap().name, "wall");
        assert_eq!(last.truncated, [Truncated { stream: "stdout", kept: 2_097_152, dropped: 180_000 }]);
    }

    #[test]
    fn two_changes_of_a_file_are_one() {
        let file = |path: &str, change, bytes| FileChange { path: path.into(), change, bytes, sha256: None };
        let mut files = vec![
            file("b", Change::Created, 1),
            file("c", Change::Created, 1),
            file("d", Change::Deleted, 0),
            file("e", Change::Modified, 1),
        ];
        let later = vec![
            file("a", Change::Created, 7),
            file("b", Change::Modified, 2),
            file("c", Change::Deleted, 0),
            file("d", Change::Created, 3),
            file("e", Change::Deleted, 0),
        ];
        merge_files(&mut files, later);
        let expected = [
            file("a", Change::Created, 7),
            file("b", Change::Created, 2),
            file("d", Change::Modified, 3),
            file("e", Change::Deleted, 0),
        ];
        assert_eq!(files, expected);
    }
}
