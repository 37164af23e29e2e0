//! `exec`: cells of one session, without a model.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::console::Console;
use super::with::{self, With};
use super::workspace::Workspace;
use super::{Context, exit, interrupt, render, stdin};
use crate::frontend::cells::{self, Cells};
use crate::frontend::json;
use crate::sandbox::{OnError, Outcome, Python};
use crate::{Cancel, Error, Result};

/// Run Python in the sandbox, without a model
///
/// Several files, or several -c, are the cells of one session, in order; the first that fails ends it. What a cell
/// prints goes to stdout, then the value of its last expression, as in a notebook.
///
/// `--save FILE` writes the session (variables and files) after its last cell, and `--load FILE` goes on from there;
/// both may name the same file.
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

    /// What becomes of the work of a cell that raised: it stays, or variables and files are as before the cell
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = WhatStays::Keep)]
    on_error: WhatStays,

    /// Go on from the session saved in this file, with its variables, files and arguments
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "deterministic"])]
    load: Option<PathBuf>,

    /// Write the session to this file after its last cell, instead of running its exit handlers
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,

    #[command(flatten)]
    with: With,

    /// What the program sees as sys.argv[1:]
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}

/// [`OnError`] as the flag spells it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum WhatStays {
    Keep,
    Rewind,
}

impl Exec {
    pub fn execute(self, context: &Context) -> Result<u8> {
        self.workspace.check()?;
        cells::check(self.load.as_deref(), self.save.as_deref())?;
        let request = self.with.request()?;
        let config = context.config()?;
        let cancel = interrupt::cancel()?;
        let on_error = match self.on_error {
            WhatStays::Keep => OnError::Keep,
            WhatStays::Rewind => OnError::Rewind,
        };
        // What a stop undid would be missed where the session's state or files are wanted.
        let code = self.code(&cancel)?;
        let workspace = self.workspace;
        let kept = self.save.is_some() || workspace.out.is_some();
        let mut cells = Cells {
            code,
            options: workspace.options()?.args(self.args).on_error(on_error),
            load: self.load,
            files: workspace.files.clone(),
            keep_going: self.keep_going,
            save: self.save,
        };
        let asked = cells.code.len();
        let python = Python::open(&config, &context.display.progress(), &cancel)?;
        cells.options.packages = with::open(context, &request, &python, &config, &cancel)?;
        context.display.clear();
        let console = &context.console;
        let ran = cells.run(&python, &cancel, &mut |cell, another| {
            if !console.json {
                render::outcome(console, cell);
                render::note(console, cell, another || kept);
            }
        })?;
        if console.json {
            show_json(console, asked, &ran.outcomes);
        }
        workspace.take_out(&ran.session, &ran.outcomes, console)?;
        if let Some(trouble) = ran.trouble {
            return Err(trouble);
        }
        Ok(ran.outcomes.last().map_or(exit::OK, exit::of_outcome))
    }

    fn code(&self, cancel: &Cancel) -> Result<Vec<String>> {
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
