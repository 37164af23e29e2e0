//! Runs programs one after another in this process, and looks at what each does to it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use slm_code_interpreter::frontend::json;
use slm_code_interpreter::{
    Cancel, Config, Limits, Outcome, Overrides, Progress, Python, Session, SessionOptions, Status,
};

use super::measure::{self, descriptors, forget_peak, peak, resident};
use super::program::{Cell, Program};
use super::table::Row;
use super::{ONLY, SHARE, programs};

pub const WALL: Duration = Duration::from_secs(3);
const MEMORY: u64 = 512 << 20;
const OUTPUT: u64 = 1 << 20;
/// The promise: no cell outlives its wall limit by more.
const GRACE: Duration = Duration::from_secs(1);
/// What may stay resident after a program, and after all of them: pages of the image that were not needed before, and
/// what an allocator keeps. What a process keeps for good [`warm`] has brought in.
const STAYS: u64 = 48 << 20;
/// The same of all of them: an image has some 130 MiB of memory, and every program needs some pages that none did before.
const STAYS_IN_ALL: u64 = 64 << 20;
/// What the host may hold while a program runs, beyond its memory and its files, both twice since the state before its
/// last cell is kept, and beyond what came out of it.
const OVERHEAD: u64 = 96 << 20;

/// With one thread that runs cells, since each keeps its whole stack once a program has used it, and which of several
/// runs the next cell is chance.
pub fn python() -> Python {
    let mut config = Config::resolve(Overrides::default()).expect("the settings");
    config.capacity = config.capacity.workers(1);
    Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image")
}

fn limits() -> Limits {
    Limits::default().wall(WALL).memory(MEMORY).output(OUTPUT)
}

fn session(python: &Python) -> Session {
    python.session(SessionOptions::new(limits())).expect("a session")
}

/// The programs that `only` or the environment asks for: all, if neither does.
pub fn chosen<'a>(all: &'a [Program], only: Option<&str>) -> impl Iterator<Item = &'a Program> {
    let only = only.map_or_else(|| std::env::var(ONLY).unwrap_or_default(), str::to_owned);
    let only: Vec<String> = only.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    all.iter().filter(move |program| only.is_empty() || only.iter().any(|name| program.name.starts_with(name)))
}

/// Runs this process's share of the programs, and prints a row for each.
pub fn share() {
    let share = std::env::var(SHARE).unwrap_or_else(|_| "0/1".to_owned());
    let (mine, of) = share.split_once('/').expect("a share");
    let (mine, of): (usize, usize) = (mine.parse().expect("a number"), of.parse().expect("a number"));
    let python = python();
    warm(&python);
    let (start, opened) = (resident(), descriptors());
    let all = programs();
    let mut most = 0;
    for program in chosen(&all, None).skip(mine).step_by(of) {
        run(&python, program).print();
        most = most.max(measure::entries(&std::env::temp_dir()));
    }
    let mut row = Row { name: format!("all of share {share}"), ..Row::default() };
    row.resident = [start, resident(), None];
    row.descriptors = [opened, descriptors()];
    if let [Some(start), Some(end), _] = row.resident
        && end > start + STAYS_IN_ALL
    {
        row.findings.push(format!("resident memory grew by {} MiB in all", (end - start) >> 20));
    }
    if most > 0 {
        row.findings.push(format!("{most} files and folders were left in the temporary folder after some program"));
    }
    row.print();
}

/// Brings in what a process keeps once some session needed it: packages, the whole stack of the thread that runs the
/// cells, the library's folders.
fn warm(python: &Python) {
    const CELLS: [&str; 4] = [
        "import numpy, pandas, sqlite3, tempfile\nprint(pandas.DataFrame({'a': numpy.arange(1000)}).sum())",
        "x = iter('a')\nfor _ in range(400_000): x = map(str, x)\nlist(x)",
        "import os\nprint(list(os.walk('/')), os.listdir('/usr/local/lib/python315.zip/matplotlib/mpl-data'))",
        "import os\nos.abort()",
    ];
    for code in CELLS.iter().cycle().take(3 * CELLS.len()) {
        session(python).exec(code, &Cancel::new()).expect("an outcome");
    }
}

fn run(python: &Python, program: &Program) -> Row {
    let mut row = Row { name: program.name.clone(), ..Row::default() };
    let (resident_before, opened) = (resident(), descriptors());
    forget_peak();
    let mut printed = BTreeSet::new();
    for _ in 0..program.runs {
        let text = once(python, program, &mut row);
        if program.differs && !printed.insert(text) {
            row.findings.push("two runs printed the same".to_owned());
        }
    }
    alive(&mut session(python), "a fresh session", &mut row);
    row.resident = [resident_before, resident(), peak()];
    row.descriptors = [opened, descriptors()];
    if let [Some(before), Some(after), Some(peak)] = row.resident {
        if after > before + STAYS {
            row.findings.push(format!("{} MiB stayed resident", (after - before) >> 20));
        }
        let limits = limits();
        if peak > before + 2 * (limits.memory + limits.scratch) + limits.displays + OVERHEAD {
            row.findings.push(format!("the host held {} MiB", (peak - before) >> 20));
        }
    }
    if row.descriptors[0] != row.descriptors[1] {
        row.findings.push(format!("descriptors went from {:?} to {:?}", row.descriptors[0], row.descriptors[1]));
    }
    row
}

/// Runs the program in sessions of its own, the last of which must then be alive. What its cells printed.
fn once(python: &Python, program: &Program, row: &mut Row) -> String {
    let mut session = session(python);
    let mut printed = String::new();
    for cell in &program.cells {
        if cell.fresh {
            drop(session);
            session = python.session(SessionOptions::new(limits())).expect("a session");
        }
        let outcome = timed(row, |cancel| session.exec(&cell.code, cancel));
        let number = row.cells.len();
        if let Some(outcome) = outcome {
            let mut wrong = check(cell, &outcome);
            wrong.extend(bounds(&outcome));
            row.findings.extend(wrong.into_iter().map(|finding| format!("cell {number}: {finding}")));
            printed.push_str(&outcome.stdout);
        }
    }
    if program.spoils {
        // It may answer as it likes, but in time.
        let walls = row.cells.len();
        timed(row, |cancel| session.exec("print('alive')", cancel));
        row.cells.truncate(walls);
        session.restart();
    }
    alive(&mut session, "its session", row);
    finish(&mut session, program, row);
    export(&session, row);
    printed
}

/// One call into the sandbox, by the host's clock.
fn timed(row: &mut Row, call: impl FnOnce(&Cancel) -> slm_code_interpreter::Result<Outcome>) -> Option<Outcome> {
    let began = Instant::now();
    let outcome = call(&Cancel::new());
    let wall = began.elapsed();
    let status = outcome.as_ref().map_or("failed", |outcome| outcome.status.as_str());
    row.cells.push((status.to_owned(), wall.as_secs_f64()));
    let number = row.cells.len();
    if wall > WALL + GRACE {
        row.findings.push(format!("cell {number}: {wall:.2?} of {WALL:?} allowed"));
    }
    outcome.map_err(|error| row.findings.push(format!("cell {number}: the sandbox failed: {error}"))).ok()
}

/// Prints in a session, which must come out: a line is nothing that anybody may keep it from.
fn alive(session: &mut Session, which: &str, row: &mut Row) {
    let mut aside = Row::default();
    let outcome = timed(&mut aside, |cancel| session.exec("print(\"alive\")", cancel));
    row.findings.extend(aside.findings.iter().map(|finding| format!("{which}, afterwards: {finding}")));
    if let Some(outcome) = outcome
        && (outcome.status != Status::Ok || outcome.stdout != "alive\n")
    {
        row.findings.push(format!(
            "{which} is not alive: {} {:?} {:?}",
            outcome.status.as_str(),
            outcome.stdout,
            outcome.error
        ));
    }
}

fn finish(session: &mut Session, program: &Program, row: &mut Row) {
    let began = Instant::now();
    let end = session.finish(&Cancel::new());
    let wall = began.elapsed();
    if wall > WALL + GRACE {
        row.findings.push(format!("its end took {wall:.2?}"));
    }
    match end {
        Err(error) => row.findings.push(format!("its end failed: {error}")),
        Ok(None) => {}
        Ok(Some(end)) => {
            row.findings.extend(bounds(&end).into_iter().map(|finding| format!("its end: {finding}")));
            if !program.end.is_empty() && !program.end.iter().any(|status| status == end.status.as_str()) {
                row.findings.push(format!("it ended as {}", end.status.as_str()));
            }
        }
    }
}

/// Copies out what the program left, which must be plain files within the quotas.
fn export(session: &Session, row: &mut Row) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let began = Instant::now();
    match session.export(folder.path()) {
        Ok(names) => {
            let limits = limits();
            let bytes: u64 = names
                .iter()
                .map(|name| folder.path().join(name))
                .map(|path| {
                    match path.symlink_metadata() {
                        Ok(facts) if facts.is_file() => facts.len(),
                        Ok(_) => u64::MAX >> 8,
                        // Case-folding and normalising file systems make one name of two.
                        Err(_) => 0,
                    }
                })
                .sum();
            if names.len() as u64 > limits.entries || bytes > limits.scratch {
                row.findings.push(format!("{} files, {bytes} bytes were copied out", names.len()));
            }
        }
        // A host may not have such names; what is copied is in no other place then either.
        Err(error) if error.is_usage() => {}
        Err(error) => row.findings.push(format!("copying out: {error}")),
    }
    let wall = began.elapsed();
    if wall > Duration::from_secs(10) {
        row.findings.push(format!("copying out took {wall:.2?}"));
    }
}

/// What the cell's header asks for and is not so.
fn check(cell: &Cell, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let status = outcome.status.as_str();
    let kind = outcome.error.as_ref().map(|error| error.kind.as_str());
    if !cell.statuses.iter().any(|allowed| allowed == status) {
        let message = outcome.error.as_ref().map(|error| error.message.chars().take(300).collect::<String>());
        wrong.push(format!("{status}, {kind:?} {message:?}, {:?}", outcome.note));
    }
    wrong.extend(cell.prints.iter().filter(|text| !outcome.stdout.contains(*text)).map(|text| {
        let start: String = outcome.stdout.chars().take(600).collect();
        format!("{text:?} is not in {start:?}")
    }));
    let said = said(outcome);
    for text in cell.lacks.iter().filter(|text| said.iter().any(|part| part.contains(*text))) {
        wrong.push(format!("it says {text:?}"));
    }
    if kind.is_some() && !cell.raises.is_empty() && !cell.raises.iter().any(|allowed| Some(allowed.as_str()) == kind) {
        wrong.push(format!("it raised {kind:?}"));
    }
    if cell.exit.is_some() && outcome.exit_code != cell.exit {
        wrong.push(format!("exit code {:?}", outcome.exit_code));
    }
    for stream in &cell.dropped {
        if !outcome.truncated.iter().any(|cut| cut.stream == stream && cut.dropped > 0) {
            wrong.push(format!("nothing of {stream} was dropped"));
        }
    }
    wrong.extend(
        outcome.stdout.lines().chain(outcome.stderr.lines()).filter(|line| line.starts_with("FAIL")).map(str::to_owned),
    );
    if outcome.status == Status::Timeout && outcome.limit.as_ref().is_none_or(|limit| limit.name != "wall") {
        wrong.push(format!("a timeout with the limit {:?}", outcome.limit));
    }
    wrong
}

/// Every text that came from the guest.
fn said(outcome: &Outcome) -> Vec<&str> {
    let mut said = vec![outcome.stdout.as_str(), outcome.stderr.as_str()];
    said.extend(outcome.error.iter().flat_map(|error| [error.kind.as_str(), &error.message, &error.traceback]));
    said.extend(outcome.result.iter().chain(&outcome.displays).flat_map(|bundle| bundle.values().map(String::as_str)));
    said
}

/// What no outcome may be, whatever the program.
fn bounds(outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut most = |what: &str, is: u64, allowed: u64| {
        if is > allowed {
            wrong.push(format!("{what}: {is}, at most {allowed}"));
        }
    };
    let limits = limits();
    let bundle = |bundle: &slm_code_interpreter::sandbox::MimeBundle| {
        bundle.iter().map(|(mime, text)| (mime.len() + text.len()) as u64).sum::<u64>()
    };
    // A byte that is no text becomes a character of three.
    most("stdout", outcome.stdout.len() as u64, 3 * limits.output);
    most("stderr", outcome.stderr.len() as u64, 3 * limits.output);
    most("kept", outcome.truncated.iter().map(|cut| cut.kept).max().unwrap_or(0), limits.output);
    // What could be more than text may be as large as a display, also when only its text fits.
    most("result", outcome.result.as_ref().map_or(0, bundle), limits.display);
    most("a display", outcome.displays.iter().map(bundle).max().unwrap_or(0), limits.display);
    most("displays", outcome.displays.iter().map(bundle).sum(), limits.displays);
    most("number of displays", outcome.displays.len() as u64, 256);
    if let Some(error) = &outcome.error {
        most("error", (error.kind.len() + error.message.len() + error.traceback.len()) as u64, 1 << 20);
    }
    most("memory", outcome.usage.memory_bytes, limits.memory);
    most("scratch", outcome.usage.scratch_bytes, limits.scratch);
    // Each file that is there, and each that was and is gone.
    most("files", outcome.files.len() as u64, 2 * limits.entries);
    for file in &outcome.files {
        if file.path.starts_with('/') || file.path.split('/').any(|part| matches!(part, "" | "." | "..")) {
            wrong.push(format!("a file named {:?}", file.path));
        }
    }
    let text = serde_json::to_string(&json::outcome(outcome)).expect("JSON");
    if let Err(error) = serde_json::from_str::<serde_json::Value>(&text) {
        wrong.push(format!("its JSON: {error}"));
    }
    let temporary = std::env::temp_dir();
    let places = [env!("CARGO_MANIFEST_DIR"), temporary.to_str().unwrap_or("\0"), "leakme"];
    for place in places.iter().filter(|place| said(outcome).iter().any(|text| text.contains(**place))) {
        wrong.push(format!("it tells of {place}"));
    }
    wrong
}
