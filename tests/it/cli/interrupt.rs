//! Ctrl-C ends whatever the guest does, at once, and what it had printed is still told.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::tool::{ready, tool, until, wait};

/// A limit that would end the cell comes much later than this.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Interrupts `code` while it runs and gives the outcome that must say so.
#[track_caller]
fn interrupted(code: &str, signal: Signal) -> serde_json::Value {
    ready();
    // The session's folder is made here, so that what the cell writes tells that it runs.
    let temporary = tempfile::tempdir().unwrap();
    let code = format!("open('started', 'w').close()\n{code}");
    let mut command = tool(&["exec", "--json", "--timeout", "3600", "-c", &code]);
    let child = command.env("TMPDIR", temporary.path()).spawn().unwrap();
    until("the cell's file", || has_started(temporary.path()));
    kill_process(Pid::from_child(&child), signal).unwrap();
    let start = Instant::now();
    let done = wait(child, AT_ONCE).exits(130);
    assert!(start.elapsed() < AT_ONCE);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "the session's folder is gone");
    let outcome = done.json();
    assert_eq!(outcome["status"], "cancelled");
    assert_eq!(outcome["limit"], serde_json::Value::Null);
    outcome
}

fn has_started(temporary: &Path) -> bool {
    let within = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut sessions = within(temporary).flat_map(|root| within(&root).collect::<Vec<_>>());
    sessions.any(|session| session.join("work/started").exists())
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
