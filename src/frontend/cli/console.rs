//! Where words go: the program's output to stdout, the tool's to stderr, and untrusted text never raw to a terminal.
//!
//! A reader that went away (`| head`) ends nothing and is not reported; any other failure to write is.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::settings::Settings;
use super::{NAME, exit};
use crate::Error;
use crate::frontend::json;
use crate::frontend::visible::visible;

pub struct Console {
    pub json: bool,
    pub quiet: bool,
    out_is_terminal: bool,
    err_is_terminal: bool,
    colour: bool,
    /// Output that somebody waits for could not be written.
    lost: AtomicBool,
    /// The one document is written: what goes wrong from here on is told on stderr.
    answered: AtomicBool,
}

impl Console {
    pub fn new(settings: &Settings) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let err_is_terminal = io::stderr().is_terminal();
        Self {
            json: settings.json,
            quiet: settings.quiet,
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: err_is_terminal && !dumb,
            colour: err_is_terminal && !no_colour && !dumb,
            lost: AtomicBool::new(false),
            answered: AtomicBool::new(false),
        }
    }

    /// For a failure before the settings are known.
    pub fn before_settings(json: bool) -> Self {
        Self {
            json,
            quiet: false,
            out_is_terminal: false,
            err_is_terminal: false,
            colour: false,
            lost: AtomicBool::new(false),
            answered: AtomicBool::new(false),
        }
    }

    /// Whether stderr can show a line that changes.
    pub fn err_is_terminal(&self) -> bool {
        self.err_is_terminal
    }

    /// Whether stderr may be coloured.
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// Untrusted text that belongs on stdout.
    pub fn program_out(&self, text: &str) {
        let text = if self.out_is_terminal { visible(text) } else { Cow::Borrowed(text) };
        self.written(write_all(io::stdout().lock(), &text));
    }

    /// Untrusted text that belongs on stderr.
    pub fn program_err(&self, text: &str) {
        let text = if io::stderr().is_terminal() { visible(text) } else { Cow::Borrowed(text) };
        self.written(write_all(io::stderr().lock(), &text));
    }

    /// What the tool has to say even when it should be quiet; one line.
    pub fn warn(&self, line: &str) {
        self.program_err(&format!("{NAME}: {}\n", one_line(line)));
    }

    /// What the tool has to say, unless it should be quiet; one line.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            self.warn(line);
        }
    }

    /// A question, with the place for its answer on the same line; only where [`can_ask`](Self::can_ask).
    pub fn ask(&self, question: &str) {
        self.program_err(&format!("{NAME}: {question} "));
    }

    /// Whether somebody is there who reads what is asked and can answer it.
    pub fn can_ask(&self) -> bool {
        !self.json && !self.quiet && self.err_is_terminal && io::stdin().is_terminal()
    }

    /// The tool's own answer, for stdout.
    pub fn print(&self, text: &str) {
        self.written(write_all(io::stdout().lock(), text));
    }

    /// The one document of `--json`.
    pub fn document(&self, document: &impl Serialize) {
        self.answered.store(true, Ordering::Relaxed);
        match serde_json::to_string(document) {
            Ok(text) => self.print(&format!("{text}\n")),
            // Our forms hold only texts, numbers and lists, which cannot fail.
            Err(error) => self.warn(&format!("the JSON document could not be made: {error}")),
        }
    }

    /// Tells why nothing, or not all, came of it, in three lines at most, or as JSON.
    pub fn fail(&self, error: &Error) {
        if self.json && !self.answered.load(Ordering::Relaxed) {
            let advice = error.advice().map(|advice| format!(" ({})", one_line(advice))).unwrap_or_default();
            self.document(&json::failure(&format!("{error}{advice}")));
            return;
        }
        let advice = error.advice().map(two_lines).unwrap_or_default();
        self.program_err(&format!("error: {}\n{advice}", one_line(&error.to_string())));
    }

    /// The exit code in the end: success only if everything that was to be written was.
    pub fn settle(&self, code: u8) -> u8 {
        if code == exit::OK && self.lost.load(Ordering::Relaxed) { exit::FAULT } else { code }
    }

    fn written(&self, result: io::Result<()>) {
        let Err(error) = result else { return };
        if error.kind() != ErrorKind::BrokenPipe && !self.lost.swap(true, Ordering::Relaxed) {
            // If stderr is what cannot be written, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: the output could not be written: {error}");
        }
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A message stays on its line, whatever text of others it quotes.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(
            text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// Advice may set a command on a line of its own.
fn two_lines(advice: &str) -> String {
    let (first, rest) = advice.split_once('\n').unwrap_or((advice, ""));
    [first, rest].map(one_line).iter().filter(|line| !line.is_empty()).map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_on_its_line() {
        assert_eq!(one_line("plain"), "plain");
        assert_eq!(one_line("a\n  b\r\n\nc"), "a b c");
        assert_eq!(two_lines("try this"), "  try this\n");
        assert_eq!(two_lines("or run there\n`pip`\nand more"), "  or run there\n  `pip` and more\n");
    }

    #[test]
    fn a_reader_that_went_away_is_not_a_failure() {
        let console = Console::before_settings(true);
        console.written(Err(ErrorKind::BrokenPipe.into()));
        assert_eq!(console.settle(exit::OK), exit::OK);
        console.written(Err(ErrorKind::StorageFull.into()));
        assert_eq!(console.settle(exit::OK), exit::FAULT);
        assert_eq!(console.settle(exit::NO_SUCCESS), exit::NO_SUCCESS);
    }
}
