//! The flags that `run` and `exec` share: what goes into `/work`, what comes out, and what the cells may use.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::frontend::limits::{self, Asker};
use crate::sandbox::SessionOptions;
use crate::{Error, Limits, Result};

#[derive(Clone, Debug, Default, Args)]
pub struct Workspace {
    /// Copy this file into /work first (repeatable)
    // An id of its own: the positional files of `exec` are `files` too, and clap would take the two for one.
    #[arg(id = "file", long = "file", value_name = "PATH")]
    pub files: Vec<PathBuf>,

    /// Copy what changed under /work into this folder, and write what was displayed there as files
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run with a virtual clock and seeded random sources: the same program gives the same output to the byte
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub deterministic: Option<u64>,

    /// Wall time of a cell, sleeps included; fractions are fine [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Limits")]
    timeout: Option<Duration>,

    /// Operators a cell may execute; reproducible from run to run [default: no limit]
    #[arg(long, value_name = "N", value_parser = whole("fuel"), allow_negative_numbers = true, help_heading = "Limits")]
    fuel: Option<u64>,

    /// Memory of the interpreter [default: 512]
    #[arg(long, value_name = "MIB", value_parser = whole("memory"), allow_negative_numbers = true, help_heading = "Limits")]
    memory: Option<u64>,

    /// Output kept of each stream; the rest is counted and dropped [default: 1024]
    #[arg(long, value_name = "KIB", value_parser = whole("output"), allow_negative_numbers = true, help_heading = "Limits")]
    max_output: Option<u64>,

    /// Bytes of all files under /work and /tmp together [default: 64]
    #[arg(long, value_name = "MIB", value_parser = whole("scratch"), allow_negative_numbers = true, help_heading = "Limits")]
    scratch: Option<u64>,

    /// Files and folders under /work and /tmp together [default: 1024]
    #[arg(long, value_name = "N", value_parser = whole("entries"), allow_negative_numbers = true, help_heading = "Limits")]
    entries: Option<u64>,

    /// Folders inside folders, counted from /work or /tmp [default: 32]
    #[arg(long, value_name = "N", value_parser = whole("depth"), allow_negative_numbers = true, help_heading = "Limits")]
    depth: Option<u64>,

    /// Files and folders open at once [default: 64]
    #[arg(long, value_name = "N", value_parser = whole("open_files"), allow_negative_numbers = true, help_heading = "Limits")]
    open_files: Option<u64>,

    /// One displayed object, encoded as it is sent [default: 4]
    #[arg(long, value_name = "MIB", value_parser = whole("display"), allow_negative_numbers = true, help_heading = "Limits")]
    max_display: Option<u64>,

    /// All displayed objects of a cell together [default: 16]
    #[arg(long, value_name = "MIB", value_parser = whole("displays"), allow_negative_numbers = true, help_heading = "Limits")]
    max_displays: Option<u64>,
}

impl Workspace {
    /// How a session with these flags starts.
    pub fn options(&self) -> SessionOptions {
        SessionOptions { deterministic: self.deterministic, ..SessionOptions::new(self.limits()) }
    }

    fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            wall: self.timeout.unwrap_or(default.wall),
            fuel: self.fuel,
            memory: self.memory.unwrap_or(default.memory),
            output: self.max_output.unwrap_or(default.output),
            scratch: self.scratch.unwrap_or(default.scratch),
            entries: self.entries.unwrap_or(default.entries),
            depth: self.depth.unwrap_or(default.depth),
            open_files: self.open_files.unwrap_or(default.open_files),
            display: self.max_display.unwrap_or(default.display),
            displays: self.max_displays.unwrap_or(default.displays),
        }
    }

    /// Refuses paths that cannot serve, before any time is spent.
    pub fn check(&self) -> Result<()> {
        for file in &self.files {
            let found = std::fs::metadata(file)
                .map_err(|error| Error::usage(error).context(format!("cannot read --file {}", file.display())))?;
            if !found.is_file() {
                return Err(Error::usage(format!("cannot take --file {}: not a regular file", file.display()))
                    .advise("name each file; folders are not copied"));
            }
        }
        match &self.out {
            Some(out) if out.exists() && !out.is_dir() => {
                Err(Error::usage(format!("cannot write into --out {}: not a folder", out.display())))
            }
            _ => Ok(()),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    limits::wall(text.parse().map_err(|_| "must be a number of seconds".to_owned())?, Asker::Owner)
}

/// Reads the flag of the limit called `name`.
fn whole(name: &'static str) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync {
    move |text| limits::flag(name, text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        workspace: Workspace,
    }

    fn parse(line: &str) -> Result<Workspace, String> {
        let line = Line::try_parse_from(std::iter::once("x").chain(line.split_whitespace()));
        line.map(|line| line.workspace).map_err(|error| error.to_string())
    }

    #[test]
    fn every_flag_sets_its_own_limit_in_its_own_unit() {
        let line = "--timeout 2.5 --fuel 50000000 --memory 64 --max-output 3 --scratch 4 --entries 5 --depth 6 \
                    --open-files 7 --max-display 8 --max-displays 9";
        let expected = Limits {
            wall: Duration::from_millis(2500),
            fuel: Some(50_000_000),
            memory: 64 << 20,
            output: 3072,
            scratch: 4 << 20,
            entries: 5,
            depth: 6,
            open_files: 7,
            display: 8 << 20,
            displays: 9 << 20,
        };
        assert_eq!(parse(line).unwrap().options().limits, expected);
        assert_eq!(parse("").unwrap().options().limits, Limits::default());
    }

    #[test]
    fn a_limit_that_cannot_be_is_refused_with_its_flag_and_its_bound() {
        for (line, words) in [
            ("--scratch 1.5", ["'--scratch <MIB>'", "must be a whole number"]),
            ("--scratch 4097", ["'--scratch <MIB>'", "(4096 MiB)"]),
            ("--entries -1", ["'--entries <N>'", "must be a whole number"]),
            ("--entries 100001", ["'--entries <N>'", "at most 100000"]),
            ("--depth 257", ["'--depth <N>'", "at most 256"]),
            ("--open-files 0", ["'--open-files <N>'", "more than 0 and at most 1000"]),
            ("--max-display 65", ["'--max-display <MIB>'", "(64 MiB)"]),
            ("--max-displays x", ["'--max-displays <MIB>'", "must be a whole number"]),
            ("--deterministic=x", ["'--deterministic[=<SEED>]'", "invalid digit"]),
            ("--deterministic=-1", ["'--deterministic[=<SEED>]'", "invalid digit"]),
        ] {
            let refusal = parse(line).unwrap_err();
            assert!(words.iter().all(|word| refusal.contains(word)), "{line}: {refusal}");
        }
    }

    #[test]
    fn the_defaults_that_help_tells_are_those_of_the_library() {
        let default = Limits::default();
        let bytes = [default.memory, default.scratch, default.display, default.displays].map(|bytes| bytes >> 20);
        let told = ["memory", "scratch", "max_display", "max_displays"].into_iter().zip(bytes);
        let told = told.chain([
            ("timeout", default.wall.as_secs()),
            ("max_output", default.output >> 10),
            ("entries", default.entries),
            ("depth", default.depth),
            ("open_files", default.open_files),
        ]);
        let command = <Line as clap::CommandFactory>::command();
        for (id, number) in told {
            let flag = command.get_arguments().find(|flag| flag.get_id() == id).unwrap();
            let help = flag.get_help().unwrap().to_string();
            assert!(help.ends_with(&format!("[default: {number}]")), "{help}");
        }
    }

    #[test]
    fn a_seed_is_optional_and_never_taken_from_what_follows() {
        assert_eq!(parse("").unwrap().options().deterministic, None);
        assert_eq!(parse("--deterministic").unwrap().options().deterministic, Some(0));
        assert_eq!(parse("--deterministic=7").unwrap().options().deterministic, Some(7));
        assert_eq!(parse("--deterministic --depth 3").unwrap().options().deterministic, Some(0));
    }

    #[test]
    fn paths_that_cannot_serve_are_refused_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.csv");
        std::fs::write(&file, "a\n").unwrap();
        let with = |files: &[&std::path::Path], out: Option<&std::path::Path>| {
            let files = files.iter().map(|file| file.to_path_buf()).collect();
            Workspace { files, out: out.map(Into::into), ..Workspace::default() }.check()
        };
        with(&[&file], Some(&folder.path().join("new"))).unwrap();
        assert!(with(&[&folder.path().join("none")], None).unwrap_err().is_usage());
        assert!(with(&[folder.path()], None).unwrap_err().to_string().contains("not a regular file"));
        assert!(with(&[], Some(&file)).unwrap_err().to_string().contains("not a folder"));
    }
}
