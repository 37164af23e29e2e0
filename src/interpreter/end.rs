//! What the end of a session (its exit handlers) adds to the last cell.

use crate::sandbox::{Change, FileChange, Outcome};

/// Adds what the end printed, changed and used. How it ended is the caller's to judge: the status stays.
pub(crate) fn append(last: &mut Outcome, end: &Outcome) {
    last.stdout.push_str(&end.stdout);
    last.stderr.push_str(&end.stderr);
    for cut in &end.truncated {
        match last.truncated.iter_mut().find(|other| other.stream == cut.stream) {
            Some(other) => {
                other.kept += cut.kept;
                other.dropped += cut.dropped;
            }
            None => last.truncated.push(cut.clone()),
        }
    }
    last.displays.extend(end.displays.iter().cloned());
    merge_files(&mut last.files, &end.files);
    last.usage.wall += end.usage.wall;
    last.usage.fuel += end.usage.fuel;
    last.usage.memory_bytes = last.usage.memory_bytes.max(end.usage.memory_bytes);
    last.usage.scratch_bytes = end.usage.scratch_bytes;
    last.note = match (last.note.take(), &end.note) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or_else(|| second.clone()),
    };
}

/// Two changes of one file are told as the one change they amount to.
fn merge_files(files: &mut Vec<FileChange>, later: &[FileChange]) {
    for mut change in later.iter().cloned() {
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
    use crate::sandbox::{Status, Truncated};

    #[test]
    fn the_end_of_a_session_adds_to_its_last_cell() {
        let mut last =
            Outcome { stdout: "a\n".into(), note: Some("first".into()), ..samples::raised("KeyError", "'x'", 2) };
        last.usage.fuel = 10;
        let mut end = Outcome { note: Some("second".into()), ..samples::timed_out("bye\n") };
        end.usage.fuel = 5;
        end.usage.wall = Duration::from_millis(3);
        append(&mut last, &end);
        append(&mut last, &Outcome { note: None, ..end });
        assert_eq!(last.stdout, "a\nbye\nbye\n");
        assert_eq!((last.status, last.limit.clone()), (Status::Error, None), "the verdict is not touched");
        assert_eq!((last.usage.fuel, last.usage.wall), (20, Duration::from_millis(6)));
        assert_eq!(last.note.as_deref(), Some("first; second"));
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
        let later = [
            file("a", Change::Created, 7),
            file("b", Change::Modified, 2),
            file("c", Change::Deleted, 0),
            file("d", Change::Created, 3),
            file("e", Change::Deleted, 0),
        ];
        merge_files(&mut files, &later);
        let expected = [
            file("a", Change::Created, 7),
            file("b", Change::Created, 2),
            file("d", Change::Modified, 3),
            file("e", Change::Deleted, 0),
        ];
        assert_eq!(files, expected);
    }
}
