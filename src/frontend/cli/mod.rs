//! The command line: one verb, one file, one `execute()`.
//!
//! Parsing has no side effects: `--help` and a bad flag touch neither disk nor network. What the program itself says
//! goes to stdout, what the tool says to stderr; every exit code is in `exit`.

mod completions;
mod console;
mod displays;
mod exec;
mod exit;
mod interrupt;
mod narrator;
mod packages;
mod render;
mod run;
mod serve;
mod settings;
mod setup;
mod stdin;
mod suggestion;
mod with;
mod workspace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use self::console::Console;
use self::settings::Settings;
use crate::frontend::progress::Display;
use crate::{Config, Error, Result};

const NAME: &str = "slm-code-interpreter";

/// A code interpreter on your own machine: a small language model writes Python, a sandbox in this process runs it.
#[derive(Debug, Parser)]
#[command(name = NAME, version, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Run),
    Exec(exec::Exec),
    Serve(serve::Serve),
    Setup(setup::Setup),
    Packages(packages::List),
    Completions(completions::Completions),
}

/// What every verb works with.
struct Context {
    settings: Settings,
    console: Console,
    display: Display,
}

impl Context {
    fn config(&self) -> Result<Config> {
        Config::resolve(self.settings.overrides())
    }
}

/// Parses the process's arguments, does what they ask, and gives the exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal),
    };
    cli.settings.start_log();
    let console = Console::new(&cli.settings);
    let display = Display::new(cli.settings.quiet, console.err_is_terminal());
    let context = Context { settings: cli.settings, console, display };
    let fault_code = cli.verb.fault_code();
    // Our own fault has its own exit code, also when it is a panic (whose hook has already told about it).
    let done = catch_unwind(AssertUnwindSafe(|| cli.verb.execute(&context))).unwrap_or_else(|_| {
        Err(Error::internal("a fault in the program itself").advise("please report it, with the text above"))
    });
    context.display.clear();
    let code = done.unwrap_or_else(|error| {
        context.console.fail(&error);
        exit::of_error(&error, fault_code)
    });
    ExitCode::from(context.console.settle(code))
}

impl Verb {
    fn execute(self, context: &Context) -> Result<u8> {
        match self {
            Self::Run(verb) => verb.execute(context),
            Self::Exec(verb) => verb.execute(context),
            Self::Serve(verb) => verb.execute(context),
            Self::Setup(verb) => verb.execute(context),
            Self::Packages(verb) => verb.execute(context),
            Self::Completions(verb) => verb.execute(context),
        }
    }

    /// The exit code when the tool itself fails: `run` knows only success and no success.
    fn fault_code(&self) -> u8 {
        if matches!(self, Self::Run(_)) { exit::NO_SUCCESS } else { exit::FAULT }
    }
}

/// Help and version as clap prints them; a usage error in its three lines, or as JSON for a caller who asked for JSON.
fn refuse(refusal: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !refusal.use_stderr() || refusal.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A closed stream is no reason to fail differently.
        let _ = refusal.print();
    } else {
        let (message, advice) = compact(&refusal.to_string());
        Console::before_settings(wants_json).fail(&Error::usage(message).advise(advice));
    }
    ExitCode::from(if refusal.use_stderr() { exit::USAGE } else { exit::OK })
}

/// What was wrong, and what to do, out of clap's paragraphs.
fn compact(text: &str) -> (String, String) {
    let is_message = |line: &&str| !["tip:", "Usage:", "For more"].iter().any(|word| line.starts_with(word));
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines().take_while(is_message).collect::<Vec<_>>().join(" ");
    let tip = lines().find_map(|line| line.strip_prefix("tip: ")).map(|tip| format!("{tip}; ")).unwrap_or_default();
    (message.strip_prefix("error: ").unwrap_or(&message).to_owned(), format!("{tip}--help tells more"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &[&str]) -> std::result::Result<Cli, clap::Error> {
        Cli::try_parse_from([&[NAME], line].concat())
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_go_before_or_after_the_verb() {
        for line in [
            &["--json", "--n-ctx", "99", "exec", "-c", "1"][..],
            &["exec", "-c", "1", "--json", "--n-ctx", "99"],
            &["--n-ctx=99", "exec", "--json", "-c", "1"],
        ] {
            let cli = parse(line).unwrap();
            assert!(cli.settings.json);
            assert_eq!(cli.settings.overrides().n_ctx, Some(99));
        }
    }

    #[test]
    fn exec_takes_files_or_codes_and_arguments() {
        let exec = |line: &[&str]| match parse(line).map(|cli| cli.verb) {
            Ok(Verb::Exec(exec)) => Ok(exec),
            Ok(_) => panic!("not exec"),
            Err(error) => Err(error.to_string()),
        };
        let files = exec(&["exec", "a.py", "b.py", "--", "-x", "--json", "y"]).unwrap();
        assert_eq!(files.files, ["a.py", "b.py"]);
        assert_eq!(files.args, ["-x", "--json", "y"]);
        let codes = exec(&["exec", "-c", "print(1)", "-c", "-1", "--keep-going", "--", "x"]).unwrap();
        assert_eq!(codes.code, ["print(1)", "-1"]);
        assert_eq!(codes.args, ["x"]);
        assert!(codes.keep_going);
        assert_eq!(exec(&["exec", "-"]).unwrap().files, ["-"]);
        let with_data = exec(&["exec", "--file", "a.csv", "-c", "1", "--file", "b.csv"]).unwrap();
        assert_eq!((with_data.files.len(), with_data.code.len()), (0, 1), "--file is no cell");
        assert!(exec(&["exec"]).unwrap_err().contains("required"));
        assert!(exec(&["exec", "-c", "1", "a.py"]).unwrap_err().contains("cannot be used with"));
        assert!(exec(&["exec", "--", "x"]).is_err(), "arguments alone are no program");
    }

    #[test]
    fn bad_values_are_refused_by_name() {
        for (line, flag) in [
            (&["exec", "-c", "1", "--timeout", "0"][..], "--timeout"),
            (&["exec", "-c", "1", "--timeout", "nan"], "--timeout"),
            (&["exec", "-c", "1", "--fuel", "0"], "--fuel"),
            (&["exec", "-c", "1", "--fuel", "-5"], "--fuel"),
            (&["exec", "-c", "1", "--memory", "5000"], "--memory"),
            (&["exec", "-c", "1", "--max-output", "x"], "--max-output"),
            (&["exec", "-c", "1", "--scratch", "1.5"], "--scratch"),
            (&["run", "x", "--entries", "1000001"], "--entries"),
            (&["exec", "-c", "1", "--on-error", "undo"], "--on-error"),
            (&["exec", "-c", "1", "--load", "s", "--", "x"], "--load"),
            (&["exec", "-c", "1", "--load", "s", "--deterministic"], "--load"),
            (&["exec", "-c", "1", "--deterministic="], "--deterministic"),
            (&["run", "x", "--save", "s"], "--save"),
            (&["run", "x", "--max-retries", "0"], "--max-retries"),
            (&["run", "x", "--temperature", "-1"], "--temperature"),
            (&["run", "x", "--top-p", "1.5"], "a number from 0 to 1"),
            (&["run", "x", "--min-p", "-0.1"], "--min-p"),
            (&["run", "x", "--guide", "bash"], "none, fence or python"),
            (&["run", "x", "--top-k", "-1"], "--top-k"),
            (&["run", "x", "--repeat-penalty", "0"], "above 0"),
            (&["run", "x", "--repeat-penalty", "nan"], "above 0"),
            (&["run", "x", "--repeat-last-n", "many"], "--repeat-last-n"),
            (&["run", "x", "--n-ctx", "0"], "--n-ctx"),
            (&["serve", "--host", "0.0.0.0"], "--host"),
            (&["serve", "--port", "70000"], "--port"),
            (&["setup", "--check", "--prune"], "--prune"),
            (&["setup", "--quiet", "--verbose"], "--verbose"),
        ] {
            let refusal = parse(line).unwrap_err();
            assert_eq!(refusal.exit_code(), 2, "{line:?}");
            assert!(refusal.to_string().contains(flag), "{line:?}: {refusal}");
        }
    }

    #[test]
    fn a_usage_error_is_two_lines() {
        let told = |line: &[&str]| compact(&parse(line).unwrap_err().to_string());
        let (message, advice) = told(&["exec"]);
        assert_eq!(message, "the following required arguments were not provided: <FILE>...");
        assert_eq!(advice, "--help tells more");
        let (message, advice) = told(&["exec", "-c", "1", "--time", "3"]);
        assert_eq!(message, "unexpected argument '--time' found");
        assert_eq!(advice, "a similar argument exists: '--timeout'; --help tells more");
        let (message, _) = told(&["exec", "-c", "1", "--timeout", "0"]);
        assert!(message.starts_with("invalid value '0' for '--timeout <SECONDS>': must be more than 0"), "{message}");
    }

    #[test]
    fn help_names_the_environment_variables() {
        let help = Cli::command().render_long_help().to_string();
        for name in [
            "MODEL",
            "CACHE_DIR",
            "N_CTX",
            "N_THREADS",
            "CONFIG",
            "PYTHON_WHEEL",
            "ONNXRUNTIME",
            "MODEL_WHEEL",
            "OFFLINE",
            "LOG",
        ] {
            assert!(help.contains(&format!("SLM_CODE_INTERPRETER_{name}")), "{name}");
        }
    }
}
