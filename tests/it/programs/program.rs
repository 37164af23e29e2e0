//! A program of the corpus, what it says when it runs, and where two such texts part.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::oracle::Need;

/// What every program may take for granted.
const BASE: &str = "python>=3.11";

pub struct Program {
    pub name: String,
    pub code: String,
    pub needs: Vec<Need>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).expect("tests/programs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Every program, in the order of their names.
pub fn all() -> Vec<Program> {
    let files = files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "py"));
    let read = |path: PathBuf| Program {
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        ..Program::of(std::fs::read_to_string(&path).expect("a program"))
    };
    files.map(read).collect()
}

/// Files of the folder that belong to no program.
pub fn strays(programs: &[Program]) -> Vec<PathBuf> {
    let expected = |path: &PathBuf| {
        let is = |name: &str| path.file_name().is_some_and(|file| file == name);
        is("README.md")
            || is("known.toml")
            || programs.iter().any(|program| is(&format!("{}.py", program.name)) || *path == program.record())
    };
    files().into_iter().filter(|path| !expected(path)).collect()
}

impl Program {
    /// Reads the needs off the first line, if it states some: `# needs: numpy>=2 tzdata python>=3.12`.
    fn of(code: String) -> Self {
        let first = code.lines().next().unwrap_or_default();
        let stated = first.strip_prefix("# needs:").unwrap_or_default().split_whitespace();
        let needs = [BASE].into_iter().chain(stated).map(Need::read).collect();
        Self { name: String::new(), code, needs }
    }

    /// Where what it prints in CPython is written down.
    pub fn record(&self) -> PathBuf {
        folder().join(format!("{}.out", self.name))
    }

    pub fn recorded(&self) -> String {
        std::fs::read_to_string(self.record()).expect("a record")
    }
}

/// What a program wrote, and the code it ended with.
#[derive(Default)]
pub struct Said {
    pub stdout: String,
    pub stderr: String,
    pub exit: i32,
}

impl Said {
    /// What is compared and recorded: all of stdout, then a line with the exit code and the last line of stderr.
    pub fn text(&self) -> String {
        let last = self.stderr.trim_end().lines().last().unwrap_or_default();
        let mut text = self.stdout.clone();
        let _ = writeln!(text, "{}", format!("[exit {}] {last}", self.exit).trim_end());
        text
    }
}

/// The first line in which two texts part, with both of its forms.
pub fn parting(one: &str, a: &str, other: &str, b: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let (mut left, mut right) = (a.split('\n'), b.split('\n'));
    for number in 1.. {
        let (a, b) = (left.next(), right.next());
        if a != b {
            let show = |line: Option<&str>| line.map_or("(nothing)".to_owned(), |line| format!("{line:?}"));
            return Some(format!("line {number}: {one} {}, {other} {}", show(a), show(b)));
        }
    }
    None
}

/// How headers, ends and differences are read.
pub fn checks() {
    let needs = |code: &str| Program::of(code.to_owned()).needs;
    assert_eq!(needs("print(1)\n# needs: numpy\n"), [Need::read(BASE)]);
    assert_eq!(needs("# needs: numpy>=2 tzdata\n"), [BASE, "numpy>=2", "tzdata"].map(Need::read));
    let said = |stdout: &str, stderr: &str, exit| Said { stdout: stdout.into(), stderr: stderr.into(), exit }.text();
    assert_eq!(said("a\n", "", 0), "a\n[exit 0]\n");
    assert_eq!(said("a", "Traceback\n  x\nKeyError: 1\n\n", 1), "a[exit 1] KeyError: 1\n");
    assert_eq!(parting("p", "a\nb\n", "q", "a\nb\n"), None);
    assert_eq!(parting("p", "a\nb\n", "q", "a\nc\n"), Some("line 2: p \"b\", q \"c\"".to_owned()));
    assert_eq!(parting("p", "a\n", "q", "a"), Some("line 2: p \"\", q (nothing)".to_owned()));
}
