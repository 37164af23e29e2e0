//! What a cell may use, and how it ends when that is not enough.

use std::time::{Duration, Instant};

use crate::tool::run;

/// The limits of these tests are seconds; only a stop that does not work takes longer than this.
const MUCH_LATER: Duration = Duration::from_secs(60);

/// Runs `code` with a wall limit of 2 s and gives the outcome that must say so.
#[track_caller]
fn timed_out(code: &str) -> serde_json::Value {
    let start = Instant::now();
    let outcome = run(&["exec", "--json", "--timeout", "2", "-c", code]).exits(124).json();
    assert!(start.elapsed() < MUCH_LATER, "{:?}", start.elapsed());
    assert_eq!(outcome["status"], "timeout");
    assert_eq!(outcome["limit"]["name"], "wall");
    assert_eq!(outcome["limit"]["allowed"], 2.0);
    assert_eq!(outcome["limit"]["unit"], "s");
    assert!(outcome["limit"]["used"].as_f64().unwrap() >= 2.0, "{outcome}");
    outcome
}

#[test]
fn a_spin_is_out_of_time() {
    timed_out("while True: pass");
}

#[test]
fn a_spin_that_swallows_everything_is_out_of_time() {
    timed_out("while True:\n    try:\n        while True: pass\n    except BaseException: pass");
}

#[test]
fn a_sleep_is_out_of_time() {
    timed_out("import time; time.sleep(3600)");
}

#[test]
fn what_was_printed_before_a_stop_is_kept() {
    let outcome = timed_out("print('before')\nwhile True: pass");
    assert_eq!(outcome["stdout"], "before\n");
    let outcome = timed_out("print('before', end='')\nimport time; time.sleep(3600)");
    assert_eq!(outcome["stdout"], "before");
}

#[test]
fn endless_printing_keeps_a_mebibyte_and_counts_the_rest() {
    let outcome = timed_out("while True: print('x' * 99)");
    assert_eq!(outcome["stdout"].as_str().unwrap().len(), 1 << 20);
    assert_eq!(outcome["truncated"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["truncated"][0]["stream"], "stdout");
    assert_eq!(outcome["truncated"][0]["kept"], 1 << 20);
    assert!(outcome["truncated"][0]["dropped"].as_u64().unwrap() > 0);
}

#[test]
fn the_kept_output_can_be_set() {
    let outcome = run(&["exec", "--json", "--max-output", "1", "-c", "print('x' * 5000)"]).exits(0).json();
    assert_eq!(outcome["status"], "ok", "the program goes on");
    assert_eq!(outcome["truncated"], serde_json::json!([{"stream": "stdout", "kept": 1024, "dropped": 3977}]));
}

#[test]
fn fuel_runs_out_at_the_same_place_every_time() {
    let spend = || {
        let arguments = ["exec", "--json", "--fuel", "50000000", "--timeout", "60", "-c", "while True: pass"];
        let outcome = run(&arguments).exits(124).json();
        assert_eq!(outcome["status"], "fuel");
        assert_eq!(outcome["limit"]["name"], "fuel");
        assert_eq!(outcome["limit"]["allowed"], 50_000_000);
        outcome["usage"]["fuel"].as_u64().unwrap()
    };
    let first = spend();
    assert!(first > 0);
    assert_eq!(first, spend());
}

#[test]
fn a_bomb_is_a_memory_error() {
    let outcome = run(&["exec", "--json", "-c", "x=[0]*10**9"]).exits(1).json();
    assert_eq!(outcome["status"], "error");
    assert_eq!(outcome["error"]["type"], "MemoryError");
}

#[test]
fn a_session_goes_on_after_a_stop() {
    let arguments = ["exec", "--json", "--keep-going", "--timeout", "2", "-c", "while True: pass", "-c", "1 + 1"];
    let outcomes = run(&arguments).exits(0).json();
    assert_eq!(outcomes[0]["status"], "timeout");
    assert_eq!(outcomes[1]["status"], "ok");
    assert_eq!(outcomes[1]["result"]["text/plain"], "2");
}

#[test]
fn a_person_reads_which_limit_it_was() {
    let done = run(&["exec", "--timeout", "2", "-c", "print('before')\nwhile True: pass"]).exits(124);
    assert_eq!(done.stdout, "before\n");
    assert!(done.stderr.contains("slm-code-interpreter: stopped after 2."), "{}", done.stderr);
    assert!(done.stderr.contains("--timeout SECONDS"), "{}", done.stderr);
}

#[test]
fn the_end_of_a_session_is_inside_the_wall_limit() {
    let code = "import atexit\ndef spin():\n    while True: pass\natexit.register(spin)\nprint('cell')";
    let outcome = timed_out(code);
    assert_eq!(outcome["stdout"], "cell\n");
}
