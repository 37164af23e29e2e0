//! What a cell may use, and how it ends when that is not enough.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

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
    let used = outcome["limit"]["used"].as_f64().unwrap();
    assert!((2.0..3.0).contains(&used), "{outcome}");
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

/// Displays `count` pictures of so many bytes, which are a third larger when they are sent.
fn pictures(count: usize, bytes: usize) -> String {
    format!(
        "class Picture:\n    def _repr_png_(self): return b'x' * {bytes}\n\
         for _ in range({count}): display(Picture())"
    )
}

#[test]
fn one_displayed_object_can_be_bounded() {
    let shown = |code: &str, flags: &[&str]| {
        let outcome = run(&[&["exec", "--json", "-c", code], flags].concat()).exits(0).json();
        outcome["displays"][0]["image/png"].as_str().map(str::len)
    };
    let picture = pictures(1, 900 << 10);
    assert_eq!(shown(&picture, &[]), Some(1200 << 10));
    assert_eq!(shown(&picture, &["--max-display", "1"]), None, "too large, so that only its text is shown");
    let large = pictures(1, 4500 << 10);
    assert_eq!((shown(&large, &[]), shown(&large, &["--max-display", "8"])), (None, Some(6000 << 10)));
}

#[test]
fn what_displays_hold_together_can_be_bounded_and_the_program_is_told() {
    let arguments = ["exec", "--json", "--max-displays", "2", "-c", &pictures(3, 600 << 10)];
    let outcome = run(&arguments).exits(1).json();
    assert_eq!(outcome["displays"].as_array().unwrap().len(), 2);
    assert_eq!(outcome["error"]["type"], "RuntimeError");
    assert!(outcome["error"]["message"].as_str().unwrap().contains("the host refused this object"), "{outcome}");
    assert_eq!(outcome["limit"], Value::Null);
    let none = run(&["exec", "--json", "--max-display", "0", "-c", "display(1)"]).exits(1).json();
    assert_eq!((&none["displays"], &none["error"]["type"]), (&json!([]), &json!("RuntimeError")));
}

/// What the file system refuses is an error of the program, which goes on.
#[track_caller]
fn refused(flags: [&str; 2], code: &str, errno: &str) {
    let code = format!("import errno\ntry:\n    {code}\nexcept OSError as error: print(errno.errorcode[error.errno])");
    let outcome = run(&["exec", "--json", flags[0], flags[1], "-c", &code]).exits(0).json();
    assert_eq!(outcome["stdout"], format!("{errno}\n"), "{outcome}");
    assert_eq!(outcome["limit"], Value::Null);
}

#[test]
fn files_are_bounded_in_bytes_number_depth_and_how_many_are_open() {
    refused(["--scratch", "1"], "open('x', 'wb').write(bytes(2 << 20))", "ENOSPC");
    refused(["--scratch", "1"], "open('x', 'wb').truncate(1 << 40)", "EFBIG");
    refused(["--scratch", "0"], "open('x', 'wb', buffering=0).write(b'x')", "ENOSPC");
    refused(["--entries", "3"], "[open(str(number), 'w').close() for number in range(4)]", "ENOSPC");
    refused(["--depth", "2"], "import os; os.makedirs('/tmp/a/b/c')", "EDQUOT");
    refused(["--open-files", "3"], "kept = [open(str(number), 'w') for number in range(4)]", "EMFILE");
    for (flag, code) in [
        ("--scratch", "open('x', 'wb').write(bytes(128 << 20))"),
        ("--entries", "[open(str(number), 'w').close() for number in range(1100)]"),
        ("--depth", "import os; os.makedirs('/'.join(['d'] * 40))"),
        ("--open-files", "kept = [open(str(number), 'w') for number in range(100)]"),
    ] {
        run(&["exec", "-c", code]).exits(1);
        let more = match flag {
            "--depth" => "64",
            "--open-files" => "1000",
            _ => "2000",
        };
        run(&["exec", flag, more, "-c", &format!("{code}\nNone")]).exits(0);
    }
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
fn an_abort_is_a_crash_and_after_a_refused_growth_a_matter_of_memory() {
    let crashed = run(&["exec", "--json", "-c", "import os\nprint('before', flush=True)\nos.abort()"]).exits(70).json();
    assert_eq!((&crashed["status"], &crashed["stdout"]), (&json!("crashed"), &json!("before\n")));
    assert_eq!(crashed["limit"], Value::Null);
    let code = "import os\ntry: x = bytearray(300 << 20)\nexcept MemoryError: os.abort()";
    let memory = run(&["exec", "--json", "--memory", "256", "-c", code]).exits(137).json();
    assert_eq!((&memory["status"], &memory["limit"]["name"]), (&json!("memory"), &json!("memory")));
    assert_eq!((&memory["limit"]["allowed"], &memory["limit"]["unit"]), (&json!(256 << 20), &json!("bytes")));
    let used = memory["limit"]["used"].as_u64().unwrap();
    assert!((1 << 20..=256 << 20).contains(&used), "{memory}");
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
    assert_eq!(done.stderr.lines().count(), 1, "nothing goes on, so nothing is said about that: {}", done.stderr);
}

#[test]
fn a_reset_is_told_to_a_person_when_another_cell_follows_and_to_a_program_always() {
    let stopped = ["exec", "--timeout", "1", "-c", "while True: pass"];
    let followed = run(&[&stopped[..], &["--keep-going", "-c", "1"]].concat()).exits(0);
    assert!(followed.stderr.contains("the cell was undone"), "{}", followed.stderr);
    let unfollowed = run(&[&stopped[..], &["-c", "1"]].concat()).exits(124);
    assert!(!unfollowed.stderr.contains("reset"), "{}", unfollowed.stderr);
    let outcome = run(&[&stopped[..], &["--json"]].concat()).exits(124).json();
    assert!(outcome["note"].as_str().unwrap().contains("the cell was undone"), "{outcome}");
}

#[test]
fn the_end_of_a_session_is_inside_the_wall_limit() {
    let code = "import atexit\ndef spin():\n    while True: pass\natexit.register(spin)\nprint('cell')";
    let outcome = timed_out(code);
    assert_eq!(outcome["stdout"], "cell\n");
}
