//! A run as it happens, on stderr: the model's words as they come when somebody is looking, and a line for every
//! attempt that came to nothing.

use std::io::Write;
use std::time::Duration;

use indicatif::ProgressBar;

use super::console::Console;
use super::{NAME, render};
use crate::Event;
use crate::frontend::visible::visible;
use crate::sandbox::{Outcome, Status};

const NO_PROGRAM: &str = "the reply held no program";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

pub struct Narrator<W> {
    to: W,
    quiet: bool,
    /// Somebody is looking: `to` is a terminal.
    live: bool,
    colour: bool,
    spinner: Option<ProgressBar>,
    /// The line on the terminal is the model's and not ended.
    mid_line: bool,
    attempt: Option<Attempt>,
}

struct Attempt {
    number: usize,
    of: usize,
    /// What became of it: told when another attempt follows, since the last one is shown in full at the end.
    told: Option<String>,
}

impl Narrator<std::io::Stderr> {
    pub fn new(console: &Console) -> Self {
        Self::onto(std::io::stderr(), console.quiet, console.err_is_terminal(), console.colour())
    }
}

impl<W: Write> Narrator<W> {
    fn onto(to: W, quiet: bool, live: bool, colour: bool) -> Self {
        Self { to, quiet, live: live && !quiet, colour, spinner: None, mid_line: false, attempt: None }
    }

    pub fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Attempt { number, of } => {
                self.close_attempt();
                self.attempt = Some(Attempt { number, of, told: Some(NO_PROGRAM.into()) });
                self.spin("thinking");
            }
            Event::Text(piece) => self.text(piece),
            Event::Code(_) => {
                self.settle();
                self.spin("running the program");
            }
            Event::Outcome(outcome) => self.outcome(outcome),
            Event::Note(text) => {
                self.settle();
                self.line(text);
            }
        }
    }

    /// Leaves the terminal as it was found; to be called when the run is over.
    pub fn settle(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
        if std::mem::take(&mut self.mid_line) {
            self.write(&format!("{}\n", if self.colour { PLAIN } else { "" }));
        }
    }

    fn text(&mut self, piece: &str) {
        if !self.live || piece.is_empty() {
            return;
        }
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
        if !self.mid_line && self.colour {
            self.write(DIM);
        }
        self.mid_line = true;
        self.write(&visible(piece));
    }

    fn outcome(&mut self, outcome: &Outcome) {
        self.settle();
        if let Some(attempt) = &mut self.attempt {
            attempt.told = (!matches!(outcome.status, Status::Ok | Status::Cancelled)).then(|| failure(outcome));
        }
    }

    /// Tells what became of the attempt that another one follows.
    fn close_attempt(&mut self) {
        self.settle();
        if let Some(Attempt { number, of, told: Some(told) }) = self.attempt.take() {
            self.line(&format!("attempt {number} of {of}: {told}"));
        }
    }

    fn line(&mut self, line: &str) {
        if !self.quiet {
            let line = format!("{NAME}: {}", line.lines().next().unwrap_or_default());
            let line = if self.live { visible(&line).into_owned() } else { line };
            self.write(&format!("{line}\n"));
        }
    }

    fn spin(&mut self, what: &'static str) {
        if self.live {
            let spinner = ProgressBar::new_spinner().with_message(what);
            spinner.enable_steady_tick(Duration::from_millis(100));
            self.spinner = Some(spinner);
        }
    }

    fn write(&mut self, text: &str) {
        // A closed stderr is no reason to stop the run.
        let _ = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
    }
}

/// What went wrong, on one line.
fn failure(outcome: &Outcome) -> String {
    match (&outcome.error, &outcome.limit) {
        (Some(error), _) => match error.line {
            Some(line) => format!("{} (line {line})", render::error_line(error)),
            None => render::error_line(error),
        },
        (None, Some(limit)) => render::limit_line(limit),
        (None, None) => outcome.status.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;

    /// What is written of a run whose first program fails, whose second reply has none, and whose third works.
    fn written(quiet: bool, live: bool, colour: bool) -> String {
        let mut written = Vec::new();
        let mut narrator = Narrator::onto(&mut written, quiet, live, colour);
        for event in [
            Event::Attempt { number: 1, of: 3 },
            Event::Text("pri\x1b[2J"),
            Event::Text("nt(x)"),
            Event::Code("print(x)"),
            Event::Outcome(&samples::raised("NameError", "name 'x' is not defined", 1)),
            Event::Attempt { number: 2, of: 3 },
            Event::Text("Sorry."),
            Event::Attempt { number: 3, of: 3 },
            Event::Code("print(1)"),
            Event::Outcome(&samples::outcome(Status::Ok)),
        ] {
            narrator.event(event);
        }
        narrator.settle();
        String::from_utf8(written).unwrap()
    }

    const LINES: [&str; 2] = [
        "slm-code-interpreter: attempt 1 of 3: NameError: name 'x' is not defined (line 1)\n",
        "slm-code-interpreter: attempt 2 of 3: the reply held no program\n",
    ];

    #[test]
    fn a_log_gets_the_failed_attempts_and_quiet_gets_nothing() {
        assert_eq!(written(false, false, false), LINES.concat());
        assert_eq!(written(true, false, false), "");
        assert_eq!(written(true, true, true), "");
    }

    #[test]
    fn a_terminal_also_gets_the_models_words_made_harmless() {
        let plain = written(false, true, false);
        assert_eq!(plain, format!("pri\\x1b[2Jnt(x)\n{}Sorry.\n{}", LINES[0], LINES[1]));
        let dim = written(false, true, true);
        assert_eq!(dim, format!("{DIM}pri\\x1b[2Jnt(x){PLAIN}\n{}{DIM}Sorry.{PLAIN}\n{}", LINES[0], LINES[1]));
    }
}
