//! `exec`: cells of one session, without a model.

use std::path::Path;

use clap::Args;

use super::console::Console;
use super::workspace::Workspace;
use super::{Context, exit, interrupt, render, stdin};
use crate::frontend::cells::{self, Cells};
use crate::frontend::json;
use crate::sandbox::{Outcome, Python, SessionOptions};
use crate::{Cancel, Error, Result};

/// Run Python in the sandbox, without a model
///
/// Several files, or several -c, are the cells of one session, in order; the first that fails ends it. What a cell
/// prints goes to stdout, then the value of its last expression, as in a notebook.
///
/// Exit codes: 0 ok, 1 Python error, the program's own code after sys.exit, 2 usage, 69 no runtime to be had,
/// 70 crashed, 124 out of time or fuel, 130 cancelled, 137 out of memory.
#[derive(Debug, Args)]
pub struct Exec {
    /// Files with the cells' code; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "code")]
    pub files: Vec<String>,

    /// A cell's code (repeatable)
    #[arg(short = 'c', long = "code", value_name = "CODE", conflicts_with = "files", allow_hyphen_values = true)]
    pub code: Vec<String>,

    /// Go on with the next cell after one that failed
    #[arg(long)]
    pub keep_going: bool,

    #[command(flatten)]
    workspace: Workspace,

    /// What the program sees as sys.argv[1:]
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

impl Exec {
    pub fn execute(self, context: &Context) -> Result<u8> {
        self.workspace.check()?;
        let config = context.config()?;
        let cancel = interrupt::cancel()?;
        let cells = Cells {
            code: self.cells(&cancel)?,
            options: SessionOptions::new(self.workspace.limits()).args(self.args),
            files: self.workspace.files,
            keep_going: self.keep_going,
        };
        let asked = cells.code.len();
        let python = Python::open(&config, &context.display.progress(), &cancel)?;
        context.display.clear();
        let console = &context.console;
        let ran = cells.run(&python, &cancel, &mut |cell, another| {
            if !console.json {
                render::outcome(console, cell);
                render::note(console, cell, another);
            }
        })?;
        if console.json {
            show_json(console, asked, &ran.outcomes);
        }
        if let Some(out) = &self.workspace.out {
            cells::export(&ran.session, out)?;
        }
        if let Some(trouble) = ran.trouble {
            return Err(trouble);
        }
        Ok(ran.outcomes.last().map_or(exit::OK, exit::of_outcome))
    }

    fn cells(&self, cancel: &Cancel) -> Result<Vec<String>> {
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Error::usage("standard input (-) was named twice: it can be read only once"));
        }
        let read =
            |file: &String| if file == "-" { stdin::whole(cancel) } else { stdin::file(Path::new(file), cancel) };
        if self.files.is_empty() { Ok(self.code.clone()) } else { self.files.iter().map(read).collect() }
    }
}

/// One outcome when one cell was asked for; of several, an array of those that ran.
fn show_json(console: &Console, asked: usize, outcomes: &[Outcome]) {
    match outcomes {
        [only] if asked == 1 => console.document(&json::outcome(only)),
        _ => console.document(&json::outcomes(outcomes)),
    }
}
