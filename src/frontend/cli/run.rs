//! `run`: a sentence in, a program run in the sandbox, its output out.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;

use super::console::Console;
use super::narrator::Narrator;
use super::suggestion::Consent;
use super::with::{self, With};
use super::workspace::Workspace;
use super::{Context, exit, interrupt, render, stdin};
use crate::error::OrInternal;
use crate::frontend::json;
use crate::model::{Guide, Sampling};
use crate::sandbox::Python;
use crate::{Answer, Cancel, CodeInterpreter, Error, Request, Result, Session, StopReason};

/// Let the model write a program that does what you say, and run it in the sandbox
///
/// The program's output goes to stdout. Errors go back to the model until a program works or the attempts are spent.
/// Data comes with --user-input, --file, or through a pipe: standard input is read when it is a pipe or a file, and
/// a pipe that stays silent for five seconds is left alone (`--user-input @-` waits for it).
///
/// Exit codes: 0 success, 1 no success, 2 usage, 69 no model or runtime to be had, 130 cancelled.
#[derive(Debug, Args)]
pub struct Run {
    /// What to do, in your words
    #[arg(value_name = "INSTRUCTION")]
    instruction: String,

    /// Data for the program, as text or @FILE (@- is standard input); also bound to the variable user_input
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    user_input: Option<String>,

    /// Attempts in all
    #[arg(long, value_name = "N", default_value = "3")]
    max_retries: NonZeroUsize,

    /// Write the last program to this file
    #[arg(long, value_name = "FILE")]
    save_code: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,

    #[command(flatten)]
    with: With,

    #[command(flatten)]
    consent: Consent,

    /// Replaces the built-in system prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Model")]
    system_prompt: Option<String>,

    /// 0 always takes the likeliest token [default: 0]
    #[arg(long, value_name = "T", value_parser = temperature, allow_negative_numbers = true, help_heading = "Model")]
    temperature: Option<f32>,

    /// Seeds the drawing of tokens, when the temperature is above 0 [default: 0]
    #[arg(long, value_name = "N", help_heading = "Model")]
    seed: Option<u64>,

    /// Draw from so many of the likeliest tokens; 0: from all [default: 40]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Model")]
    top_k: Option<usize>,

    /// Draw from the fewest tokens whose probabilities sum to this; 1: from all [default: 0.95]
    #[arg(long, value_name = "P", value_parser = share, allow_negative_numbers = true, help_heading = "Model")]
    top_p: Option<f32>,

    /// Draw from the tokens with at least this share of the likeliest one's probability [default: 0]
    #[arg(long, value_name = "P", value_parser = share, allow_negative_numbers = true, help_heading = "Model")]
    min_p: Option<f32>,

    /// Make the reply's last tokens less likely by this factor; 1 does nothing [default: 1]
    #[arg(long, value_name = "X", value_parser = repeat_penalty, allow_negative_numbers = true, help_heading = "Model")]
    repeat_penalty: Option<f32>,

    /// How many of the reply's last tokens --repeat-penalty looks at [default: 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Model")]
    repeat_last_n: Option<usize>,

    /// Hold the reply to a grammar: one fenced block, or one that looks like Python
    #[arg(long, value_name = "none|fence|python", value_parser = guide, default_value = "none", help_heading = "Model")]
    guide: Guide,

    /// Tokens of one reply [default: 512]
    #[arg(long, value_name = "N", help_heading = "Model")]
    max_tokens: Option<NonZeroUsize>,
}

impl Run {
    pub fn execute(self, context: &Context) -> Result<u8> {
        self.check()?;
        let packages = self.with.request()?;
        let mut config = context.config()?;
        let cancel = interrupt::cancel()?;
        let request = self.request(&context.console, &cancel)?;
        self.consent.settle(false, &context.console, &mut config, &cancel)?;
        let python = Python::open(&config, &context.display.progress(), &cancel)?;
        let packages = with::open(context, &packages, &python, &config, &cancel)?;
        let mut builder = CodeInterpreter::builder().config(config).python(python);
        if let Some(packages) = packages {
            builder = builder.packages(packages);
        }
        let interpreter = builder.progress(context.display.progress()).cancel(cancel.clone()).build()?;
        context.display.clear();
        let mut session = self.session(&interpreter)?;
        let mut narrator = Narrator::new(&context.console);
        let answer = interpreter.run_to_end(&mut session, &request, &mut |event| narrator.event(event), &cancel);
        narrator.settle();
        let answer = answer?;
        // First of all: what fails from here on must not lose it.
        show(&context.console, &answer);
        self.save(&answer)?;
        self.workspace.take_out(&session, answer.outcome(), &context.console)?;
        Ok(exit::of_answer(&answer))
    }

    /// Refuses what cannot work, before the model is loaded.
    fn check(&self) -> Result<()> {
        self.workspace.check()?;
        if self.instruction.trim().is_empty() {
            return Err(Error::usage("the instruction is empty").advise("say what the program is to do, in quotes"));
        }
        let Some(file) = &self.save_code else { return Ok(()) };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if file.is_dir() || !folder.is_dir() {
            return Err(Error::usage(format!("cannot write --save-code {}: no such place for a file", file.display())));
        }
        Ok(())
    }

    fn request(&self, console: &Console, cancel: &Cancel) -> Result<Request> {
        let mut request = Request::new(self.instruction.clone()).max_retries(self.max_retries.get());
        request.system_prompt = self.system_prompt.clone();
        request.user_input = match self.user_input.as_deref().map(|text| (text, text.strip_prefix('@'))) {
            None => stdin::piped(console, cancel)?,
            Some((_, Some("-"))) => Some(stdin::whole(cancel)?),
            Some((_, Some(file))) => Some(stdin::file(Path::new(file), cancel)?),
            Some((text, None)) => Some(text.to_owned()),
        };
        self.sampling(&mut request.sampling);
        request.guide = self.guide;
        request.max_tokens = self.max_tokens.map_or(request.max_tokens, NonZeroUsize::get);
        Ok(request)
    }

    fn sampling(&self, sampling: &mut Sampling) {
        fn set<T: Copy>(value: &mut T, given: Option<T>) {
            *value = given.unwrap_or(*value);
        }
        set(&mut sampling.temperature, self.temperature);
        set(&mut sampling.seed, self.seed);
        set(&mut sampling.top_k, self.top_k);
        set(&mut sampling.top_p, self.top_p);
        set(&mut sampling.min_p, self.min_p);
        set(&mut sampling.repeat_penalty, self.repeat_penalty);
        set(&mut sampling.repeat_last_n, self.repeat_last_n);
    }

    fn session(&self, interpreter: &CodeInterpreter) -> Result<Session> {
        let mut session = interpreter.session(self.workspace.options()?)?;
        for file in &self.workspace.files {
            session.put_file(file)?;
        }
        Ok(session)
    }

    fn save(&self, answer: &Answer) -> Result<()> {
        match &self.save_code {
            Some(file) if !answer.code.is_empty() => {
                let code = format!("{}\n", answer.code.trim_end_matches('\n'));
                std::fs::write(file, code).or_internal(format!("cannot write the program to {}", file.display()))
            }
            _ => Ok(()),
        }
    }
}

/// The answer as JSON, or: the last program as `exec` shows it, and why there is no success.
fn show(console: &Console, answer: &Answer) {
    if console.json {
        console.document(&json::answer(answer));
        return;
    }
    match answer.outcome() {
        Some(last) => render::outcome(console, last),
        None => console.program_out(&answer.stdout),
    }
    if !answer.success {
        console.warn(&no_success(answer));
    }
}

fn no_success(answer: &Answer) -> String {
    let attempts = match answer.attempts {
        1 => "1 attempt".into(),
        many => format!("{many} attempts"),
    };
    let why = match (&answer.error, answer.stop_reason) {
        (Some(error), _) => format!(": {error}"),
        (None, StopReason::NoCode) => ": the last reply held no program".into(),
        (None, _) => String::new(),
    };
    format!("no success after {attempts} ({}){why}", answer.stop_reason.as_str())
}

fn temperature(text: &str) -> Result<f32, String> {
    number(text, |value| (0.0..=Sampling::MOST_TEMPERATURE).contains(&value), "a number from 0 to 10")
}

fn guide(text: &str) -> Result<Guide, String> {
    Guide::named(text).ok_or_else(|| "must be none, fence or python".into())
}

fn share(text: &str) -> Result<f32, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "a number from 0 to 1")
}

fn repeat_penalty(text: &str) -> Result<f32, String> {
    let fits = |value| value > 0.0 && value <= Sampling::MOST_REPEAT_PENALTY;
    number(text, fits, "a number above 0, at most 10; 1 is no penalty")
}

fn number(text: &str, fits: impl Fn(f32) -> bool, what: &str) -> Result<f32, String> {
    text.parse().ok().filter(|&value| fits(value)).ok_or_else(|| format!("must be {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;
    use crate::sandbox::Status;

    fn run(instruction: &str) -> Run {
        Run {
            instruction: instruction.into(),
            user_input: Some("a,b".into()),
            max_retries: NonZeroUsize::MIN,
            save_code: None,
            workspace: Workspace::default(),
            with: With::default(),
            consent: Consent::default(),
            system_prompt: None,
            temperature: None,
            seed: None,
            top_k: None,
            top_p: None,
            min_p: None,
            repeat_penalty: None,
            repeat_last_n: None,
            guide: Guide::None,
            max_tokens: None,
        }
    }

    #[test]
    fn flags_reach_the_request_and_the_rest_keeps_its_defaults() {
        let console = Console::before_settings(true);
        let default = run("x").request(&console, &Cancel::new()).unwrap();
        assert_eq!((default.user_input.as_deref(), default.max_retries, default.max_tokens), (Some("a,b"), 1, 512));
        let set = Run { temperature: Some(0.5), seed: Some(7), max_tokens: NonZeroUsize::new(9), ..run("x") };
        let set = set.request(&console, &Cancel::new()).unwrap();
        assert_eq!((set.sampling.temperature, set.sampling.seed, set.max_tokens), (0.5, 7, 9));
        let drawing = Run {
            top_k: Some(0),
            top_p: Some(0.5),
            min_p: Some(0.1),
            repeat_penalty: Some(1.2),
            repeat_last_n: Some(9),
            guide: Guide::Python,
            ..run("x")
        };
        let drawing = drawing.request(&console, &Cancel::new()).unwrap();
        assert_eq!(drawing.guide, Guide::Python);
        let drawing = drawing.sampling;
        assert_eq!((drawing.top_k, drawing.top_p, drawing.min_p), (0, 0.5, 0.1));
        assert_eq!((drawing.repeat_penalty, drawing.repeat_last_n, drawing.temperature), (1.2, 9, 0.0));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.csv");
        std::fs::write(&file, "x,y\n").unwrap();
        let from_file = Run { user_input: Some(format!("@{}", file.display())), ..run("x") };
        assert_eq!(from_file.request(&console, &Cancel::new()).unwrap().user_input.as_deref(), Some("x,y\n"));
        let missing = Run { user_input: Some("@/nowhere/at/all".into()), ..run("x") };
        assert!(missing.request(&console, &Cancel::new()).unwrap_err().is_usage());
    }

    #[test]
    fn what_cannot_work_is_refused_first() {
        assert!(run("  ").check().unwrap_err().is_usage());
        let nowhere = Run { save_code: Some("/nowhere/at/all.py".into()), ..run("x") };
        assert!(nowhere.check().unwrap_err().to_string().contains("--save-code"));
        Run { save_code: Some("new.py".into()), ..run("x") }.check().unwrap();
    }

    #[test]
    fn the_program_is_saved_with_one_end_of_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program.py");
        let answer = samples::answer(false, samples::outcome(Status::Error));
        Run { save_code: Some(file.clone()), ..run("x") }.save(&answer).unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), "print(6 * 7)\n");
    }

    #[test]
    fn no_success_says_why() {
        let mut answer = samples::answer(false, samples::outcome(Status::Error));
        assert_eq!(no_success(&answer), "no success after 1 attempt (retries)");
        answer.attempts = 2;
        answer.stop_reason = StopReason::NoCode;
        assert_eq!(no_success(&answer), "no success after 2 attempts (no_code): the last reply held no program");
        answer.stop_reason = StopReason::ModelError;
        answer.error = Some("the script is exhausted".into());
        assert_eq!(no_success(&answer), "no success after 2 attempts (model_error): the script is exhausted");
    }
}
