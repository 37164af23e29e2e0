//! Ordinary programs, which print here what they print in CPython.
//!
//! `tests/programs/*.py` are the programs; `tests/programs/README.md` says how they are compared. Each runs in a fresh
//! session, and, where this machine's `python3` has what the program needs, in a fresh process of that too.

mod known;
mod oracle;
mod program;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oracle::{Need, Oracle};
use program::{Program, Said};
use slm_code_interpreter::{Cancel, Config, Limits, Overrides, Progress, Python, SessionOptions};

use crate::tool::ready;

/// Far beyond what a program takes, on a busy machine too.
const HANG: Duration = Duration::from_secs(120);
/// Only the programs whose names begin with one of these, as `re_,json`: for work on a few of them.
const ONLY: &str = "SLM_TEST_PROGRAMS";

/// One program's line of the table.
struct Row {
    name: String,
    here: Duration,
    /// How long `python3` took, where it ran.
    live: Option<Duration>,
    /// The first way in which the three texts part.
    differs: Option<String>,
}

#[test]
fn every_program_prints_what_cpython_prints() {
    ready();
    let (programs, known) = (chosen(), known::read());
    let oracle = Oracle::find(programs.iter().flat_map(|program| &program.needs));
    let mut config = Config::resolve(Overrides::default()).expect("the settings");
    config.capacity = config.capacity.workers(2);
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    let rows = at_once(&programs, |program| compare(program, &python, oracle.as_ref()));

    let text = render(&rows, &known, oracle.as_ref());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("programs.md");
    std::fs::write(&path, &text).expect("target/programs.md");
    println!("{text}");
    let wrong: Vec<String> = rows.iter().filter_map(|row| complaint(row, &known)).collect();
    assert!(wrong.is_empty(), "{} findings, see {}:\n{}", wrong.len(), path.display(), wrong.join("\n"));
}

#[test]
#[ignore = "writes the .out files anew, with the python3 of PATH; tests/programs/README.md says which that must be"]
fn records() {
    let programs = chosen();
    let oracle = Oracle::find(programs.iter().flat_map(|program| &program.needs)).expect("a python3");
    assert_eq!(oracle.version(), "3.13", "the records are made by one version");
    at_once(&programs, |program| {
        let unmet: Vec<&Need> = program.needs.iter().filter(|need| !oracle.meets(need)).collect();
        assert!(unmet.is_empty(), "{} needs {unmet:?}", program.name);
        std::fs::write(program.record(), oracle.run(program).text()).expect("a record");
    });
}

#[test]
fn every_file_of_the_corpus_is_of_use() {
    let programs = program::all();
    assert!(programs.len() >= 160, "only {} programs", programs.len());
    let strays = program::strays(&programs);
    assert!(strays.is_empty(), "neither a program nor of one: {strays:?}");
    for program in &programs {
        assert!(program.record().exists(), "{} has no record", program.name);
        assert!(program.code.lines().count() >= 5, "{} is no program", program.name);
        let (recorded, fails) = (program.recorded(), "[exit 1] SyntaxError");
        let enough = recorded.lines().count() >= 4 || recorded.starts_with(fails);
        assert!(enough, "{} hardly prints: {recorded}", program.name);
    }
    for name in known::read().keys() {
        assert!(programs.iter().any(|program| program.name == *name), "known.toml: there is no program {name}");
    }
}

#[test]
fn a_difference_counts_unless_it_is_listed_and_a_listed_one_must_be_there() {
    let known = BTreeMap::from([("listed".to_owned(), "a reason".to_owned())]);
    let row = |name: &str, differs: Option<&str>| Row {
        name: name.to_owned(),
        here: Duration::ZERO,
        live: None,
        differs: differs.map(str::to_owned),
    };
    assert!(complaint(&row("other", None), &known).is_none());
    assert!(complaint(&row("other", Some("line 1")), &known).is_some_and(|text| text.contains("line 1")));
    assert!(complaint(&row("listed", Some("line 1")), &known).is_none());
    assert!(complaint(&row("listed", None), &known).is_some_and(|text| text.contains("a reason")));
}

#[test]
fn headers_and_records_are_read_right() {
    program::checks();
    oracle::checks();
}

/// The programs that the environment asks for: all, if it does not.
fn chosen() -> Vec<Program> {
    let only = std::env::var(ONLY).unwrap_or_default();
    let only: Vec<&str> = only.split(',').filter(|name| !name.is_empty()).collect();
    let mut programs = program::all();
    programs.retain(|program| only.is_empty() || only.iter().any(|name| program.name.starts_with(name)));
    programs
}

/// `work` on every program, two at a time; what came of them, in the programs' order.
fn at_once<T: Send>(programs: &[Program], work: impl Fn(&Program) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((place, program)) = nth(programs, next.fetch_add(1, Ordering::Relaxed)) {
                    let came = work(program);
                    done.lock().expect("no worker died").push((place, came));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker died");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, came)| came).collect()
}

fn nth(programs: &[Program], place: usize) -> Option<(usize, &Program)> {
    programs.get(place).map(|program| (place, program))
}

fn compare(program: &Program, python: &Python, oracle: Option<&Oracle>) -> Row {
    let began = Instant::now();
    let here = said_here(program, python).text();
    let mut row = Row { name: program.name.clone(), here: began.elapsed(), live: None, differs: None };
    let recorded = if program.record().exists() { program.recorded() } else { "no record\n".to_owned() };
    row.differs = program::parting("recorded", &recorded, "here", &here);
    if let Some(oracle) = oracle.filter(|oracle| program.needs.iter().all(|need| oracle.meets(need))) {
        let began = Instant::now();
        let live = oracle.run(program).text();
        row.live = Some(began.elapsed());
        row.differs = row.differs.or_else(|| program::parting("recorded", &recorded, "python3", &live));
    }
    row
}

/// The program in a session of its own, to the end of its exit handlers.
fn said_here(program: &Program, python: &Python) -> Said {
    let options = SessionOptions::new(Limits::default().wall(HANG)).undo(false);
    let mut session = python.session(options).expect("a session");
    let cancel = Cancel::new();
    let outcome = session.exec(&program.code, &cancel).expect("the sandbox runs");
    let mut said = Said {
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        exit: outcome.exit_code.unwrap_or(i32::from(outcome.error.is_some())),
    };
    if let Some(error) = outcome.error {
        said.stderr.push_str(&error.traceback);
    }
    if let Some(limit) = outcome.limit {
        let _ = write!(said.stderr, "\nstopped: {}", limit.name);
        said.exit = -1;
    }
    if let Some(end) = session.finish(&cancel).expect("an end") {
        said.stdout.push_str(&end.stdout);
        said.stderr.push_str(&end.stderr);
    }
    said
}

/// What is wrong with a row, if anything is.
fn complaint(row: &Row, known: &BTreeMap<String, String>) -> Option<String> {
    match (&row.differs, known.get(&row.name)) {
        (Some(how), None) => Some(format!("{}: {how}", row.name)),
        (None, Some(reason)) => Some(format!("{}: known.toml lists it and it agrees: {reason}", row.name)),
        _ => None,
    }
}

fn render(rows: &[Row], known: &BTreeMap<String, String>, oracle: Option<&Oracle>) -> String {
    let live = rows.iter().filter(|row| row.live.is_some()).count();
    let beside = match oracle {
        Some(oracle) if live == rows.len() => format!("and with {oracle}"),
        Some(oracle) => format!("and {live} with {oracle}, which lacks what the others need"),
        None => "there is no python3 here to run them".to_owned(),
    };
    let mut text = format!("{} programs, each compared with its record, {beside}.\n\n", rows.len());
    text.push_str("| program | here, ms | python3, ms | |\n|---|---|---|---|\n");
    for row in rows {
        let verdict = match (&row.differs, known.get(&row.name)) {
            (None, None) => "agrees".to_owned(),
            (Some(_), Some(reason)) => format!("known: {reason}"),
            (Some(how), None) => format!("**!** {}", how.replace('\n', " ").replace('|', "\\|")),
            (None, Some(_)) => "**!** listed, and agrees".to_owned(),
        };
        let ms = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1e3);
        let native = row.live.map_or("–".to_owned(), ms);
        let _ = writeln!(text, "| {} | {} | {native} | {verdict} |", row.name, ms(row.here));
    }
    text
}
