//! The flags that `run` and `exec` share: what goes into `/work`, what comes out, and what the cells may use.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::console::Console;
use super::displays;
use crate::frontend::limits::{self, Asker};
use crate::sandbox::{Mount, Outcome, Session, SessionOptions};
use crate::{Error, Limits, Result};

#[derive(Clone, Debug, Default, Args)]
pub struct Workspace {
    /// Copy this file, or this folder without its links, into /work first (repeatable)
    // An id of its own: the positional files of `exec` are `files` too, and clap would take the two for one.
    #[arg(id = "file", long = "file", value_name = "PATH")]
    pub files: Vec<PathBuf>,

    /// Show this folder to the program as /PATH, read-only; with :rw it can change it, which nothing undoes (repeatable)
    #[arg(id = "mount", long = "mount", value_name = "DIR:/PATH[:rw]", value_parser = mount)]
    pub mounts: Vec<Granted>,

    /// Copy what changed under /work into this folder, and write what was displayed there as files
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run with a virtual clock and seeded random sources: the same program gives the same output to the byte
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    pub deterministic: Option<u64>,

    /// Wall time of a cell, sleeps included; fractions are fine [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true, help_heading = "Limits")]
    timeout: Option<Duration>,

    /// Fuel of a cell: counts of loops and calls, or operators with --metering wasmtime; reproducible from run to run
    /// [default: no limit]
    #[arg(long, value_name = "N", value_parser = whole("fuel"), allow_negative_numbers = true, help_heading = "Limits")]
    fuel: Option<u64>,

    /// Memory of the interpreter [default: 512]
    #[arg(long, value_name = "MIB", value_parser = whole("memory"), allow_negative_numbers = true, help_heading = "Limits")]
    memory: Option<u64>,

    /// Output kept of each stream; the rest is counted and dropped [default: 1024]
    #[arg(long, value_name = "KIB", value_parser = whole("output"), allow_negative_numbers = true, help_heading = "Limits")]
    max_output: Option<u64>,

    /// Bytes of all files under /work and /tmp together, and by which writable mounts may grow [default: 64]
    #[arg(long, value_name = "MIB", value_parser = whole("scratch"), allow_negative_numbers = true, help_heading = "Limits")]
    scratch: Option<u64>,

    /// Files and folders under /work and /tmp together, and new ones in writable mounts [default: 1024]
    #[arg(long, value_name = "N", value_parser = whole("entries"), allow_negative_numbers = true, help_heading = "Limits")]
    entries: Option<u64>,

    /// Folders inside folders, counted from /work, /tmp or a mount [default: 32]
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

/// A folder of the host that cells may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    host: PathBuf,
    guest: String,
    writable: bool,
}

impl Granted {
    fn open(&self) -> Result<Mount> {
        let open = if self.writable { Mount::writable } else { Mount::read_only };
        open(&self.host, &self.guest)
    }
}

impl Workspace {
    /// How a session with these flags starts.
    ///
    /// # Errors
    /// Folders that cannot be mounted.
    pub fn options(&self) -> Result<SessionOptions> {
        let options = SessionOptions { deterministic: self.deterministic, ..SessionOptions::new(self.limits()) };
        self.mounts.iter().try_fold(options, |options, granted| Ok(options.mount(granted.open()?)))
    }

    /// Copies what changed under `/work` out, and what the cells displayed, if that is asked for, and says what it was.
    pub fn take_out<'a>(
        &self,
        session: &Session,
        outcomes: impl IntoIterator<Item = &'a Outcome>,
        console: &Console,
    ) -> Result<()> {
        let Some(out) = &self.out else {
            displays::hint(console, outcomes);
            return Ok(());
        };
        let copied = session.export(out)?;
        let displayed = displays::save(console, out, &copied, outcomes)?;
        if !copied.is_empty() || !displayed {
            console.say(&told(out, &copied));
        }
        Ok(())
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
        self.options()?.check()?;
        for file in &self.files {
            let found = std::fs::metadata(file)
                .map_err(|error| Error::usage(error).context(format!("cannot read --file {}", file.display())))?;
            if !found.is_file() && !found.is_dir() {
                let text = format!("cannot take --file {}: neither a regular file nor a folder", file.display());
                return Err(Error::usage(text));
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

/// Reads DIR:/PATH, DIR:/PATH:ro or DIR:/PATH:rw. DIR may have colons, as it does on Windows; PATH may not.
fn mount(text: &str) -> Result<Granted, String> {
    let (rest, writable) = match text.strip_suffix(":rw") {
        Some(rest) => (rest, true),
        None => (text.strip_suffix(":ro").unwrap_or(text), false),
    };
    match rest.rsplit_once(":/") {
        Some((host, guest)) if !host.is_empty() && !guest.contains(':') => {
            Ok(Granted { host: host.into(), guest: format!("/{guest}"), writable })
        }
        Some((host, guest)) if !host.is_empty() => {
            let (_, mode) = guest.rsplit_once(':').unwrap_or_default();
            Err(format!("after the guest's path comes ro or rw, and not {mode:?}"))
        }
        _ => Err("it says which folder, and where the guest finds it: DIR:/PATH, as in ./data:/data".to_owned()),
    }
}

/// Which results lie in `out` now; of many the first.
fn told(out: &Path, copied: &[String]) -> String {
    const SHOWN: usize = 5;
    let out = out.display();
    let names = copied.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match copied.len() {
        0 => format!("nothing was copied to {out}: no file in /work is new or changed, and nothing was displayed"),
        1..=SHOWN => format!("copied to {out}: {names}"),
        all => format!("{all} files copied to {out}: {names} and {} more", all - SHOWN),
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
        assert_eq!(parse(line).unwrap().options().unwrap().limits, expected);
        assert_eq!(parse("").unwrap().options().unwrap().limits, Limits::default());
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
        assert_eq!(parse("").unwrap().options().unwrap().deterministic, None);
        assert_eq!(parse("--deterministic").unwrap().options().unwrap().deterministic, Some(0));
        assert_eq!(parse("--deterministic=7").unwrap().options().unwrap().deterministic, Some(7));
        assert_eq!(parse("--deterministic --depth 3").unwrap().options().unwrap().deterministic, Some(0));
    }

    #[test]
    fn a_mount_names_a_folder_a_path_and_perhaps_how() {
        for (text, host, guest, writable) in [
            ("./data:/data", "./data", "/data", false),
            ("./data:/data:ro", "./data", "/data", false),
            ("data:/a/b:rw", "data", "/a/b", true),
            (r"C:\data:/data:rw", r"C:\data", "/data", true),
            ("C:/da:ta:/data", "C:/da:ta", "/data", false),
            ("/:/data", "/", "/data", false),
        ] {
            assert_eq!(mount(text), Ok(Granted { host: host.into(), guest: guest.into(), writable }), "{text}");
        }
        for (text, word) in [
            ("data", "./data:/data"),
            ("/data", "DIR:/PATH"),
            (":/data", "DIR:/PATH"),
            ("d:data", "DIR:/PATH"),
            ("d:/data:x", "\"x\""),
        ] {
            assert!(mount(text).unwrap_err().contains(word), "{text}");
        }
        assert!(parse("--mount d:/data:RW").unwrap_err().contains("ro or rw"));
    }

    #[test]
    fn mounts_that_cannot_be_are_refused_first() {
        let folder = tempfile::tempdir().unwrap();
        let host = folder.path().display();
        assert_eq!(
            parse(&format!("--mount {host}:/data --mount {host}:/out:rw")).unwrap().options().unwrap().mounts.len(),
            2
        );
        for (line, words) in [
            (format!("--mount {host}/none:/data"), "cannot mount"),
            (format!("--mount {host}:/work"), "own folder"),
            (format!("--mount {host}:/data/../x"), "not a plain path"),
            (format!("--mount {host}:/data --mount {host}:/data/in:rw"), "cannot both be mounted"),
        ] {
            let error = parse(&line).unwrap().check().unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn results_are_told_by_name_and_of_many_the_first() {
        let told = |count: usize| told(Path::new("out"), &(0..count).map(|n| format!("d/{n}")).collect::<Vec<_>>());
        assert_eq!(told(0), "nothing was copied to out: no file in /work is new or changed, and nothing was displayed");
        assert_eq!(told(2), "copied to out: d/0, d/1");
        assert_eq!(told(7), "7 files copied to out: d/0, d/1, d/2, d/3, d/4 and 2 more");
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
        with(&[folder.path()], None).unwrap();
        assert!(with(&[], Some(&file)).unwrap_err().to_string().contains("not a folder"));
    }
}
