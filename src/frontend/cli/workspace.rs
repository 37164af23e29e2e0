//! The flags that `run` and `exec` share: what goes into `/work`, what comes out, and what the cells may use.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::frontend::limits::{self, KIB, MIB};
use crate::{Error, Limits, Result};

#[derive(Clone, Debug, Default, Args)]
pub struct Workspace {
    /// Copy this file into /work first (repeatable)
    // An id of its own: the positional files of `exec` are `files` too, and clap would take the two for one.
    #[arg(id = "file", long = "file", value_name = "PATH")]
    pub files: Vec<PathBuf>,

    /// Copy what changed under /work into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Wall time of a cell, sleeps included; fractions are fine [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Limits")]
    timeout: Option<Duration>,

    /// Operators a cell may execute; reproducible from run to run [default: no limit]
    #[arg(long, value_name = "N", value_parser = fuel, allow_negative_numbers = true, help_heading = "Limits")]
    fuel: Option<u64>,

    /// Memory of the interpreter [default: 512]
    #[arg(long, value_name = "MIB", value_parser = mebibytes, allow_negative_numbers = true, help_heading = "Limits")]
    memory: Option<u64>,

    /// Output kept of each stream; the rest is counted and dropped [default: 1024]
    #[arg(long, value_name = "KIB", value_parser = kibibytes, allow_negative_numbers = true, help_heading = "Limits")]
    max_output: Option<u64>,
}

impl Workspace {
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            wall: self.timeout.unwrap_or(default.wall),
            fuel: self.fuel,
            memory: self.memory.unwrap_or(default.memory),
            output: self.max_output.unwrap_or(default.output),
            ..default
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
    limits::OWNER.wall(text.parse().map_err(|_| "must be a number of seconds".to_owned())?)
}

fn fuel(text: &str) -> Result<u64, String> {
    limits::fuel(whole(text, 1)?)
}

fn mebibytes(text: &str) -> Result<u64, String> {
    limits::OWNER.memory(whole(text, MIB)?)
}

fn kibibytes(text: &str) -> Result<u64, String> {
    limits::OWNER.output(whole(text, KIB)?)
}

fn whole(text: &str, unit: u64) -> Result<u64, String> {
    let number: u64 = text.parse().map_err(|_| "must be a whole number, not negative".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_flags() {
        let limits = Workspace {
            timeout: Some(seconds("2.5").unwrap()),
            fuel: Some(fuel("50000000").unwrap()),
            memory: Some(mebibytes("64").unwrap()),
            max_output: Some(kibibytes("3").unwrap()),
            ..Workspace::default()
        }
        .limits();
        assert_eq!(
            limits,
            Limits {
                wall: Duration::from_millis(2500),
                fuel: Some(50_000_000),
                memory: 64 << 20,
                output: 3072,
                ..Limits::default()
            }
        );
        assert_eq!(Workspace::default().limits(), Limits::default());
        assert!(mebibytes("99999999999999999").is_err());
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
