//! An outcome as a person reads it: the program's output and each cell's value as a notebook shows them, the traceback
//! on stderr, and one line for whatever else must be known.

use super::console::Console;
use crate::frontend::progress::size;
use crate::sandbox::{CellError, LimitHit, MimeBundle, Outcome, Status};

/// Shows one cell.
pub fn outcome(console: &Console, outcome: &Outcome) {
    console.program_out(&shown(outcome));
    console.program_err(&outcome.stderr);
    if let Some(error) = &outcome.error {
        console.program_err(&error_text(error));
    }
    ending(console, outcome);
}

/// What was printed, and the value of a last expression on a line of its own, as in a notebook.
fn shown(outcome: &Outcome) -> String {
    let mut text = outcome.stdout.clone();
    for bundle in outcome.displays.iter().chain(&outcome.result) {
        append_plain(&mut text, bundle);
    }
    text
}

/// Appends the plain form of `bundle`, beginning and ending a line.
fn append_plain(text: &mut String, bundle: &MimeBundle) {
    let Some(plain) = bundle.get("text/plain") else { return };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(plain);
    text.push('\n');
}

/// The traceback, or what there is of it, with an end of line.
fn error_text(error: &CellError) -> String {
    match error.traceback.trim_end_matches('\n') {
        "" => format!("{}\n", error_line(error)),
        traceback => format!("{traceback}\n"),
    }
}

/// As Python's last line: `NameError: name 'x' is not defined`.
pub fn error_line(error: &CellError) -> String {
    if error.message.is_empty() { error.kind.clone() } else { format!("{}: {}", error.kind, error.message) }
}

/// Tells how a cell ended, unless its output has said it all.
fn ending(console: &Console, outcome: &Outcome) {
    if let Some(line) = stop_line(outcome) {
        console.warn(&line);
    }
    for cut in &outcome.truncated {
        console.say(&format!(
            "{}: kept {}, dropped {} (--max-output KIB keeps more)",
            cut.stream,
            size(cut.kept),
            size(cut.dropped)
        ));
    }
}

/// Tells what is to be known about the session, when it goes on.
pub fn note(console: &Console, outcome: &Outcome, another: bool) {
    if let Some(note) = outcome.note.as_ref().filter(|_| another) {
        console.say(note);
    }
}

fn stop_line(outcome: &Outcome) -> Option<String> {
    if let Some(limit) = &outcome.limit {
        return Some(limit_line(limit));
    }
    match outcome.status {
        Status::Cancelled => Some("cancelled".into()),
        Status::Crashed => Some("the interpreter crashed in this cell".into()),
        Status::Memory => {
            Some("memory: the interpreter ended after it was refused more (--memory MIB allows more)".into())
        }
        Status::Timeout => Some("stopped: out of time (--timeout SECONDS allows more)".into()),
        Status::Fuel => Some("stopped: out of fuel (--fuel N allows more)".into()),
        Status::Ok | Status::Error | Status::Exited => None,
    }
}

/// A limit with its numbers, in a person's units, and the flag that moves it.
pub fn limit_line(limit: &LimitHit) -> String {
    let LimitHit { name, used, allowed, unit } = *limit;
    match name {
        "wall" => format!("stopped after {used:.1} s of {allowed:.1} s allowed (--timeout SECONDS allows more)"),
        "fuel" => format!(
            "stopped after {used} units of fuel of {allowed} allowed (--fuel N allows more; so does --timeout with --deterministic)"
        ),
        "memory" => {
            format!("memory: {} of {} allowed (--memory MIB allows more)", mebibytes(used), mebibytes(allowed))
        }
        _ => format!("{name}: {used} {unit} of {allowed} {unit} allowed"),
    }
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.0} MiB", bytes / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;

    #[test]
    fn a_value_stands_on_a_line_of_its_own() {
        let bundle = |text: &str| Some(MimeBundle::from([("text/plain".to_owned(), text.to_owned())]));
        let cell = |stdout: &str, result| Outcome { stdout: stdout.into(), result, ..samples::outcome(Status::Ok) };
        assert_eq!(shown(&cell("", bundle("2"))), "2\n");
        assert_eq!(shown(&cell("a\n", bundle("2"))), "a\n2\n");
        assert_eq!(shown(&cell("a", bundle("2"))), "a\n2\n");
        assert_eq!(shown(&cell("a", None)), "a", "output is not touched");
        let mut figure = cell("", bundle("[]"));
        figure
            .displays
            .push(MimeBundle::from([("text/plain".into(), "<Figure>".into()), ("image/png".into(), "…".into())]));
        assert_eq!(shown(&figure), "<Figure>\n[]\n");
    }

    #[test]
    fn an_error_is_its_traceback_or_its_line() {
        let mut error = samples::raised("KeyError", "'x'", 1).error.unwrap();
        assert!(error_text(&error).starts_with("Traceback") && error_text(&error).ends_with("KeyError: 'x'\n"));
        error.traceback.clear();
        assert_eq!(error_text(&error), "KeyError: 'x'\n");
        error.message.clear();
        assert_eq!(error_text(&error), "KeyError\n");
    }

    #[test]
    fn a_limit_tells_its_numbers_and_its_flag() {
        let line = |name, used, allowed, unit| limit_line(&LimitHit { name, used, allowed, unit });
        assert_eq!(
            line("wall", 2.03, 2.0, "s"),
            "stopped after 2.0 s of 2.0 s allowed (--timeout SECONDS allows more)"
        );
        assert!(line("fuel", 5e7, 5e7, "units").contains("50000000 units of fuel of 50000000"));
        assert!(line("memory", 536_870_912.0, 536_870_912.0, "bytes").starts_with("memory: 512 MiB of 512 MiB"));
        assert_eq!(line("scratch", 2.0, 1.0, "bytes"), "scratch: 2 bytes of 1 bytes allowed");
    }

    #[test]
    fn only_a_stop_has_a_line() {
        for (status, has) in [
            (Status::Ok, false),
            (Status::Error, false),
            (Status::Exited, false),
            (Status::Timeout, true),
            (Status::Fuel, true),
            (Status::Memory, true),
            (Status::Crashed, true),
            (Status::Cancelled, true),
        ] {
            assert_eq!(stop_line(&samples::outcome(status)).is_some(), has, "{status:?}");
        }
    }
}
