//! One program of `tests/cases`, with what must hold in its header.
//!
//! ```text
//! # T01: what it tries                      the file's name begins with the id
//! # runs: 50                                of the whole program: how often it is run, here each time afresh
//! # differs                                 no two of these runs print the same
//! # spoils                                  its session may be of no more use; a restart of it must be
//! # end: timeout | ok                       how the session's exit handlers may end
//! # expect: ok | error                      of one cell, after `# --- turn ---` of the next: its status
//! # prints: text                            in its stdout
//! # lacks: text                             in nothing that it says
//! # raises: MemoryError                     the error's type
//! # exit: 3                                 the exit code
//! # dropped: stdout                         more was printed than is kept
//! ```
//!
//! `# --- fresh ---` begins a cell of another session, after the end of the one before. A line that begins with `FAIL`
//! must not be printed by any cell.

use std::path::Path;

pub struct Program {
    /// The file's name without its extension.
    pub name: String,
    pub runs: usize,
    pub differs: bool,
    pub spoils: bool,
    pub end: Vec<String>,
    pub cells: Vec<Cell>,
}

#[derive(Default)]
pub struct Cell {
    /// Header included, so that line numbers are the file's.
    pub code: String,
    /// Whether a new session begins here.
    pub fresh: bool,
    pub statuses: Vec<String>,
    pub prints: Vec<String>,
    pub lacks: Vec<String>,
    pub raises: Vec<String>,
    pub exit: Option<i32>,
    pub dropped: Vec<String>,
}

const TURN: &str = "# --- turn ---";
const FRESH: &str = "# --- fresh ---";

impl Program {
    #[track_caller]
    pub fn read(path: &Path) -> Self {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("a program");
        Self::parse(&name, &text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    }

    fn parse(name: &str, text: &str) -> Result<Self, String> {
        let id = name.split('_').next().unwrap_or_default();
        let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {id}: ")));
        if title.is_none_or(|title| title.trim().is_empty()) {
            return Err(format!("it does not begin with `# {id}: ` and what it tries"));
        }
        let mut program =
            Self { name: name.to_owned(), runs: 1, differs: false, spoils: false, end: Vec::new(), cells: Vec::new() };
        for (fresh, code) in split(text) {
            let mut cell = Cell { code, fresh, ..Cell::default() };
            let first = program.cells.is_empty();
            let header: Vec<String> =
                cell.code.lines().map_while(|line| line.strip_prefix("# ")).map(str::to_owned).collect();
            for line in header.iter().skip(usize::from(first)) {
                program.directive(&mut cell, line, first)?;
            }
            if cell.statuses.is_empty() {
                return Err(format!("cell {} says not what to `expect`", program.cells.len() + 1));
            }
            program.cells.push(cell);
        }
        Ok(program)
    }

    fn directive(&mut self, cell: &mut Cell, line: &str, first: bool) -> Result<(), String> {
        let (word, value) = line.split_once(": ").unwrap_or((line, ""));
        let words = || value.split('|').map(|word| word.trim().to_owned()).collect::<Vec<_>>();
        let number = || value.parse::<i32>().map_err(|error| format!("{line}: {error}"));
        match word {
            "runs" if first => self.runs = usize::try_from(number()?).map_err(|error| format!("{line}: {error}"))?,
            "differs" if first => self.differs = true,
            "spoils" if first => self.spoils = true,
            "end" if first => self.end = words(),
            "expect" => cell.statuses = words(),
            "prints" => cell.prints.push(value.to_owned()),
            "lacks" => cell.lacks.push(value.to_owned()),
            "raises" => cell.raises = words(),
            "exit" => cell.exit = Some(number()?),
            "dropped" => cell.dropped.push(value.to_owned()),
            _ => return Err(format!("`{line}` means nothing")),
        }
        let known = |status: &String| STATUSES.contains(&status.as_str());
        if !cell.statuses.iter().chain(&self.end).all(known) {
            return Err(format!("`{line}` names no status"));
        }
        Ok(())
    }
}

const STATUSES: [&str; 8] = ["ok", "error", "exited", "timeout", "fuel", "memory", "crashed", "cancelled"];

impl Cell {
    /// Whether its header has this word.
    pub fn uses(&self, word: &str) -> bool {
        self.code.lines().any(|line| line.starts_with(&format!("# {word}: ")))
    }
}

/// The cells of a text, each with whether it begins a new session.
fn split(text: &str) -> Vec<(bool, String)> {
    let mut cells = vec![(false, String::new())];
    for line in text.split_inclusive('\n') {
        match line.trim_end() {
            TURN => cells.push((false, String::new())),
            FRESH => cells.push((true, String::new())),
            _ => cells.last_mut().expect("one").1.push_str(line),
        }
    }
    cells
}

/// What the reading of headers promises.
pub fn checks() {
    let good = "# X01: tries\n# runs: 2\n# expect: ok | error\n# prints: a: b\n# exit: -1\nprint(1)\n# prints: no header\n# --- fresh ---\n# expect: timeout\npass\n";
    let program = Program::parse("X01_name", good).expect("a program");
    assert_eq!((program.runs, program.cells.len()), (2, 2));
    let [first, second] = &program.cells[..] else { panic!("two cells") };
    assert_eq!(
        (&first.statuses[..], &first.prints[..], first.exit),
        (&["ok".to_owned(), "error".to_owned()][..], &["a: b".to_owned()][..], Some(-1))
    );
    assert!(second.fresh && !first.fresh);
    for bad in [
        "print(1)\n",
        "# X01: t\nprint(1)\n",
        "# X02: t\n# expect: ok\n",
        "# X01: t\n# expect: fine\n",
        "# X01: t\n# expect: ok\n# wishes: x\n",
        "# X01: t\n# expect: ok\n# --- turn ---\npass\n",
    ] {
        assert!(Program::parse("X01_name", bad).is_err(), "{bad:?}");
    }
}
