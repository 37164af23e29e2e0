//! Programs that try to break out, to hang or to use the host up, and what must come of each.
//!
//! `tests/cases/*.py` hold the programs with their expectations in their headers (see `program`). The table runs every
//! one in a session of its own and looks at this side of the wall as well: time, memory, descriptors, what is left in
//! the temporary folder. These are facts of a process, so the programs run in child processes of this same test binary
//! that do nothing else, one program after another: the figures are exact, and nothing is linked a second time. Two
//! children, each with every second program, keep two cores busy.

mod inventory;
mod measure;
mod mixed;
mod program;
mod runner;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use program::Program;

use crate::tool::{ready, wait};

/// Far beyond what a share of the programs takes, on a busy machine too.
const HANG: Duration = Duration::from_secs(900);
/// Which share of the programs a child runs, as `0/2`.
const SHARE: &str = "SLM_TEST_SHARE";
/// What makes glibc give memory back when it is freed: files lie in chunks of 64 KiB, which it would otherwise take from
/// heaps of 64 MiB for each thread, and keep these. Other allocators do not read them.
const GIVE_BACK: [(&str, &str); 3] =
    [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "131072")];
/// Only the programs whose names begin with one of these, as `T01,F`: for work on a few of them.
const ONLY: &str = "SLM_TEST_CASES";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Every program, in the order of their names.
fn programs() -> Vec<Program> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).expect("tests/cases").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|path| Program::read(path)).collect()
}

/// Runs one of this binary's ignored tests in a process of its own, with an empty temporary folder and an environment
/// that no guest may see. What it printed, and what it left in the folder.
#[track_caller]
fn alone(test: &str, share: &str, environment: &[(&str, &str)]) -> (String, Vec<PathBuf>) {
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    child
        .envs(GIVE_BACK)
        .envs(environment.iter().copied())
        .env(SHARE, share)
        .env("TMPDIR", temporary.path())
        .env("SBX_CANARY", "leakme");
    let child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    let done = wait(child, HANG);
    assert_eq!(done.code, Some(0), "{}\n{}", done.stdout, done.stderr);
    let left = std::fs::read_dir(temporary.path()).expect("the folder");
    (done.stdout, left.map(|entry| entry.expect("an entry").path()).collect())
}

#[test]
fn every_program_is_contained() {
    contained("cases.md", &[]);
}

/// Time and memory are what another metering could let slip.
#[test]
fn the_reference_metering_bounds_time_and_memory_as_well() {
    contained("cases-wasmtime.md", &[("SLM_CODE_INTERPRETER_METERING", "wasmtime"), (ONLY, "T,M")]);
}

/// Runs the programs that `environment` asks for and writes the table of them.
#[track_caller]
fn contained(table: &str, environment: &[(&str, &str)]) {
    ready();
    let shares = std::thread::scope(|scope| {
        let children =
            ["0/2", "1/2"].map(|share| scope.spawn(move || alone("cases::runs_a_share", share, environment)));
        children.map(|child| child.join().expect("a share of the programs"))
    });
    let mut rows: Vec<table::Row> = shares.iter().flat_map(|(printed, _)| table::Row::all_in(printed)).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let text = table::render(&rows);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(table);
    std::fs::write(&path, &text).expect("the table in target");

    let ran: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let (all, only) = (programs(), environment.iter().find(|(name, _)| *name == ONLY).map(|(_, only)| *only));
    let chosen = runner::chosen(&all, only);
    let missing: Vec<_> = chosen.map(|p| p.name.as_str()).filter(|name| !ran.contains(name)).collect();
    assert!(missing.is_empty(), "not run: {missing:?}");
    let wrong: Vec<String> = rows.iter().flat_map(table::Row::complaints).collect();
    assert!(wrong.is_empty(), "{} findings, see {}:\n{}", wrong.len(), path.display(), wrong.join("\n"));
    for (_, left) in shares {
        assert!(left.is_empty(), "left in the temporary folder: {left:?}");
    }
}

#[test]
fn two_hundred_runs_leave_nothing() {
    ready();
    let (printed, left) = alone("cases::runs_two_hundred", "0/1", &[]);
    let (early, late) = mixed::Look::both_in(&printed);
    println!("after 50 runs {early:?}, after 200 {late:?}");
    if let (Some(early), Some(late)) = (early.resident, late.resident) {
        assert!(late < early + (32 << 20), "resident memory grew from {early} to {late}");
    }
    assert_eq!(early.descriptors, late.descriptors, "descriptors");
    assert_eq!(late.scratch, 0, "entries in the temporary folder");
    assert!(left.is_empty(), "left in the temporary folder: {left:?}");
}

#[test]
#[ignore = "the table's own: it starts this in a process that does nothing else"]
fn runs_a_share() {
    runner::share();
}

#[test]
#[ignore = "the test of two hundred runs starts this in a process that does nothing else"]
fn runs_two_hundred() {
    mixed::run();
}

#[test]
fn programs_say_what_must_hold() {
    let all = programs();
    assert!(all.len() >= 90, "only {} programs", all.len());
    let words = ["expect", "prints", "lacks", "raises", "exit", "dropped"];
    for word in words {
        let used = all.iter().flat_map(|program| &program.cells).filter(|cell| cell.uses(word)).count();
        assert!(used > 0, "`{word}` is of no use");
    }
}

#[test]
fn headers_are_read_right() {
    program::checks();
}
