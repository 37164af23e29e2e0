//! This machine's `python3`, where there is one.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::HANG;
use super::program::{Program, Said};
use crate::tool::{Done, wait};

/// Prints the interpreter's path (a shim's own start can take longer than a program), then names with versions.
const PROBE: &str = "
import importlib.metadata, sys
print(sys.executable)
print('python', '.'.join(map(str, sys.version_info[:3])))
for name in sys.argv[1:]:
    try: print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError: pass
";

/// A package, or `python` itself, of at least a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    name: String,
    at_least: Vec<u32>,
}

impl Need {
    /// Reads `name` or `name>=1.2`.
    pub fn read(word: &str) -> Self {
        let (name, version) = word.split_once(">=").unwrap_or((word, ""));
        Self { name: name.to_owned(), at_least: numbers(version) }
    }
}

/// The leading numbers of a version: `3.0.6rc1` is 3, 0.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

pub struct Oracle {
    executable: PathBuf,
    versions: BTreeMap<String, String>,
}

impl Oracle {
    /// The `python3` of PATH, and which of the packages it has.
    pub fn find<'a>(needs: impl Iterator<Item = &'a Need>) -> Option<Self> {
        let mut names: Vec<&str> = needs.map(|need| need.name.as_str()).filter(|name| *name != "python").collect();
        names.sort_unstable();
        names.dedup();
        let mut probe = Command::new("python3");
        probe.arg("-c").arg(PROBE).args(names);
        let done = finish(probe)?;
        (done.code == Some(0)).then(|| Self::of(&done.stdout))
    }

    fn of(probed: &str) -> Self {
        let mut lines = probed.lines();
        let executable = lines.next().unwrap_or_default().into();
        let versions = lines.filter_map(|line| line.split_once(' '));
        Self { executable, versions: versions.map(|(name, version)| (name.into(), version.into())).collect() }
    }

    pub fn meets(&self, need: &Need) -> bool {
        self.versions.get(&need.name).is_some_and(|version| numbers(version) >= need.at_least)
    }

    /// As `3.13`.
    pub fn version(&self) -> String {
        let version = numbers(self.versions.get("python").map_or("", String::as_str));
        version.iter().take(2).map(u32::to_string).collect::<Vec<_>>().join(".")
    }

    /// Runs the program in a folder of its own, with nothing to read.
    pub fn run(&self, program: &Program) -> Said {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let home = folder.path().canonicalize().expect("the folder");
        // The program's own folder is empty, as `/work` is.
        let (work, file) = (home.join("work"), home.join("program.py"));
        std::fs::create_dir(&work).expect("its folder");
        std::fs::write(&file, &program.code).expect("the program");
        let mut command = Command::new(&self.executable);
        command.arg(&file).current_dir(&work).env("HOME", &work).env("TMPDIR", &home);
        for name in ["PYTHONPATH", "PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "FORCE_COLOR", "COLUMNS"] {
            command.env_remove(name);
        }
        command.envs([("PYTHONUTF8", "1"), ("PYTHONDONTWRITEBYTECODE", "1"), ("TZ", "UTC"), ("MPLBACKEND", "agg")]);
        command.env("MPLCONFIGDIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("matplotlib"));
        let done = finish(command).expect("python3 starts");
        let neutral = |text: &str| text.replace(&*file.to_string_lossy(), "<cell 1>");
        Said { stdout: neutral(&done.stdout), stderr: neutral(&done.stderr), exit: done.code.unwrap_or(-1) }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "python3 ({}", self.version())?;
        for (name, version) in self.versions.iter().filter(|(name, _)| *name != "python") {
            write!(f, ", {name} {version}")?;
        }
        f.write_str(")")
    }
}

/// Runs a command with nothing to read, unless it is not there.
fn finish(mut command: Command) -> Option<Done> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().ok().map(|child| wait(child, HANG))
}

/// How needs are met.
pub fn checks() {
    let oracle = Oracle::of("/usr/bin/python3\npython 3.12.1\nnumpy 2.5.2rc1\n");
    assert_eq!(oracle.version(), "3.12");
    for met in ["python", "python>=3.11", "python>=3.12.1", "numpy", "numpy>=2", "numpy>=2.5"] {
        assert!(oracle.meets(&Need::read(met)), "{met}");
    }
    for unmet in ["python>=3.13", "python>=4", "numpy>=2.6", "pandas"] {
        assert!(!oracle.meets(&Need::read(unmet)), "{unmet}");
    }
}
