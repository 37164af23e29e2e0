//! Ctrl-C ends whatever the guest does, at once, and what it had printed is still told.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::tool::{ready, tool, wait};

/// A limit that would end the cell comes much later than this.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Interrupts `code` while it runs and gives the outcome that must say so.
#[track_caller]
fn interrupted(code: &str, signal: Signal) -> serde_json::Value {
    ready();
    let temporary = tempfile::tempdir().unwrap();
    let mut command = tool(&["exec", "--json", "--timeout", "3600", "-c", code]);
    command.env("TMPDIR", temporary.path()).env("SLM_CODE_INTERPRETER_LOG", "debug");
    let mut child = command.spawn().unwrap();
    // The log says when the cell has begun. It is read to its end, so that the program never waits for a reader.
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let begun = log.by_ref().map_while(Result::ok).any(|line| line.contains("cell 1 runs"));
    assert!(begun, "it ended before its cell began");
    let rest = std::thread::spawn(move || log.for_each(drop));
    kill_process(Pid::from_child(&child), signal).unwrap();
    let start = Instant::now();
    let done = wait(child, AT_ONCE).exits(130);
    assert!(start.elapsed() < AT_ONCE);
    rest.join().unwrap();
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left");
    let outcome = done.json();
    assert_eq!(outcome["status"], "cancelled");
    assert_eq!(outcome["limit"], serde_json::Value::Null);
    outcome
}

#[test]
fn a_spin() {
    interrupted("while True: pass", Signal::INT);
}

#[test]
fn a_spin_that_catches_everything() {
    interrupted("while True:\n    try:\n        while True: pass\n    except BaseException: pass", Signal::INT);
}

#[test]
fn a_sleep() {
    interrupted("import time; time.sleep(3600)", Signal::INT);
}

#[test]
fn endless_printing() {
    interrupted("while True: print('x' * 99)", Signal::INT);
}

#[test]
fn endless_allocation() {
    interrupted("while True:\n    try: x = [0] * 10**9\n    except MemoryError: pass", Signal::INT);
}

#[test]
fn a_request_to_terminate() {
    interrupted("while True: pass", Signal::TERM);
}
