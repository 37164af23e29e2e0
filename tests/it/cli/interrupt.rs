//! Ctrl-C ends whatever the guest does, at once, and what it had printed is still told.

use std::io::Read;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::tool::{await_line, ready, tool, wait};

/// A limit that would end the cell comes much later than this.
const AT_ONCE: Duration = Duration::from_secs(30);

/// Interrupts `code` while it runs and gives the outcome that must say so.
#[track_caller]
fn interrupted(code: &str, signal: Signal) -> serde_json::Value {
    ready();
    let mut child = tool(&["exec", "--json", "--verbose", "--timeout", "3600", "-c", code]).spawn().unwrap();
    let mut rest = await_line(child.stderr.take().unwrap(), "cell 1 of 1 begins", 1);
    let pid = Pid::from_child(&child);
    kill_process(pid, signal).unwrap();
    let start = Instant::now();
    let drain = std::thread::spawn(move || rest.read_to_end(&mut Vec::new()));
    let done = wait(child, AT_ONCE).exits(130);
    drain.join().unwrap().unwrap();
    assert!(start.elapsed() < AT_ONCE);
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
