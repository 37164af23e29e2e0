//! Cells and their outcomes, for programs and for people.

use serde_json::{Value, json};

use crate::tool::{finish, ready, run, run_with, tool};

#[track_caller]
fn cell(code: &str, exit_code: i32) -> Value {
    let outcome = run(&["exec", "--json", "-c", code]).exits(exit_code).json();
    no_host_path(&outcome.to_string());
    outcome
}

/// Nothing of this machine is in what the guest saw or raised.
#[track_caller]
fn no_host_path(text: &str) {
    let home = std::env::var("HOME").unwrap_or_default();
    let temporary = std::env::temp_dir().join("").display().to_string();
    for place in [env!("CARGO_MANIFEST_DIR"), home.as_str(), temporary.as_str()] {
        assert!(place.len() < 4 || !text.contains(place), "{place} is in {text}");
    }
}

#[test]
fn an_outcome_has_every_key() {
    let outcome = cell("print('hi')\n1 + 1", 0);
    let keys: Vec<_> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    for key in [
        "status",
        "stdout",
        "stderr",
        "truncated",
        "result",
        "displays",
        "error",
        "exit_code",
        "limit",
        "files",
        "usage",
    ] {
        assert!(keys.contains(&key), "{key}");
    }
    assert_eq!((&outcome["status"], &outcome["stdout"]), (&json!("ok"), &json!("hi\n")));
    assert_eq!(outcome["result"]["text/plain"], "2");
    for key in ["error", "exit_code", "limit"] {
        assert_eq!(outcome[key], Value::Null, "{key}");
    }
    assert_eq!(outcome["usage"]["metering"], "loops");
    assert!(outcome["usage"]["fuel"].as_u64().unwrap() > 0);
    assert!(outcome["usage"]["wall_ms"].as_f64().unwrap() > 0.0);
    assert!(outcome["usage"]["memory_bytes"].as_u64().unwrap() > 1 << 20);
}

#[test]
fn a_value_of_none_is_no_result() {
    assert_eq!(cell("None", 0)["result"], Value::Null);
    assert_eq!(cell("x = 1", 0)["result"], Value::Null);
    assert_eq!(cell("", 0)["status"], "ok");
}

#[test]
fn a_syntax_error_tells_the_line_and_the_text() {
    let outcome = cell("x = 1\nif x:\nprint(x)\n", 1);
    assert_eq!(outcome["status"], "error");
    assert_eq!(outcome["error"]["type"], "IndentationError");
    assert_eq!(outcome["error"]["line"], 3);
    assert!(outcome["error"]["traceback"].as_str().unwrap().contains("print(x)"), "{outcome}");
    let outcome = cell("def f(:\n    pass", 1);
    assert_eq!((&outcome["error"]["type"], &outcome["error"]["line"]), (&json!("SyntaxError"), &json!(1)));
    assert!(outcome["error"]["traceback"].as_str().unwrap().contains("def f(:"), "{outcome}");
}

#[test]
fn an_exception_three_functions_deep() {
    let code = "def a():\n    b()\ndef b():\n    c()\ndef c():\n    return 1 / 0\nprint('so far')\na()\n";
    let outcome = cell(code, 1);
    assert_eq!(outcome["stdout"], "so far\n");
    assert_eq!(outcome["stderr"], "", "the traceback is in `error`");
    let error = &outcome["error"];
    assert_eq!(error["type"], "ZeroDivisionError");
    assert!(error["message"].as_str().unwrap().contains("division by zero"), "{error}");
    let traceback = error["traceback"].as_str().unwrap();
    for frame in ["line 8", "in a", "line 2", "in b", "line 4", "in c", "line 6", "1 / 0", "ZeroDivisionError"] {
        assert!(traceback.contains(frame), "{frame} is not in {traceback}");
    }
    assert_eq!(traceback.matches("  File ").count(), 4, "the user's own frames only: {traceback}");
}

#[test]
fn an_exit_has_its_code() {
    let outcome = cell("import sys\nsys.exit(3)", 3);
    assert_eq!((&outcome["status"], &outcome["exit_code"]), (&json!("exited"), &json!(3)));
    assert_eq!(cell("import sys\nsys.exit(0)", 0)["status"], "ok");
    assert_eq!(cell("import sys\nsys.exit()", 0)["status"], "ok");
    assert_eq!(cell("import os\nprint('x', flush=True)\nos._exit(4)", 4)["status"], "exited");
}

#[test]
fn unicode_and_bytes_that_are_none() {
    let outcome = cell("print('Zürich 東京 🤷🏽')", 0);
    assert_eq!(outcome["stdout"], "Zürich 東京 🤷🏽\n");
    let outcome = cell("import sys\nsys.stdout.buffer.write(b'a\\xffb\\x00')\nsys.stdout.flush()\nNone", 0);
    assert_eq!(outcome["stdout"], "a\u{fffd}b\0");
    let outcome = cell("import sys\nprint('to stderr', file=sys.stderr)", 0);
    assert_eq!(outcome["stderr"], "to stderr\n");
}

#[test]
fn a_person_sees_what_a_notebook_shows() {
    let done = run(&["exec", "-c", "print('hi')\n1 + 1", "-c", "'two'"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("hi\n2\n'two'\n", ""));
    let done = run(&["exec", "-c", "print('hi')\nundefined"]).exits(1);
    assert_eq!(done.stdout, "hi\n");
    assert!(
        done.stderr.starts_with("Traceback") && done.stderr.ends_with("NameError: name 'undefined' is not defined\n")
    );
}

#[test]
fn cells_of_one_session_share_their_variables_and_stop_at_the_first_failure() {
    let outcomes = run(&["exec", "--json", "-c", "x = 20", "-c", "x + 1"]).exits(0).json();
    assert_eq!(outcomes[1]["result"]["text/plain"], "21");
    let stopped = run(&["exec", "--json", "-c", "x = 1", "-c", "y", "-c", "x"]).exits(1).json();
    assert_eq!(stopped.as_array().unwrap().len(), 2, "an array of those that ran");
    let all = run(&["exec", "--json", "--keep-going", "-c", "x = 1", "-c", "y", "-c", "x"]).exits(0).json();
    let statuses: Vec<_> = all.as_array().unwrap().iter().map(|outcome| outcome["status"].clone()).collect();
    assert_eq!(statuses, ["ok", "error", "ok"]);
    assert_eq!(run(&["exec", "--json", "-c", "y", "-c", "1"]).exits(1).json().as_array().unwrap().len(), 1);
}

#[test]
fn code_comes_from_files_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.py"), folder.path().join("b.py"));
    std::fs::write(&first, "x = 'first'\n").unwrap();
    std::fs::write(&second, "import sys\nprint(x, __name__, sys.argv)\n").unwrap();
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    let done = run(&["exec", first, second, "--", "-v", "--json", "b c"]).exits(0);
    assert_eq!(done.stdout, "first __main__ ['cell', '-v', '--json', 'b c']\n");
    assert_eq!(run_with(&["exec", "-"], "print('piped')").exits(0).stdout, "piped\n");
    let done = run_with(&["exec", "-c", "import sys; print(repr(sys.stdin.read()))"], "not for the guest").exits(0);
    assert_eq!(done.stdout, "''\n");
}

#[test]
fn files_go_in_and_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data.csv"), folder.path().join("deep/out"));
    std::fs::write(&data, "a,b\n1,2\n").unwrap();
    let code = "import os\ntext = open('data.csv').read()\nos.makedirs('sub')\nopen('sub/copy.csv', 'w').write(text * 2)\nNone";
    let arguments = ["exec", "--json", "--file", data.to_str().unwrap(), "--out", out.to_str().unwrap(), "-c", code];
    let outcome = run(&arguments).exits(0).json();
    no_host_path(&outcome.to_string());
    assert_eq!(outcome["files"].as_array().unwrap().len(), 1, "{outcome}");
    let file = &outcome["files"][0];
    assert_eq!(
        (&file["path"], &file["change"], &file["bytes"]),
        (&json!("sub/copy.csv"), &json!("created"), &json!(16))
    );
    assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(std::fs::read_to_string(out.join("sub/copy.csv")).unwrap(), "a,b\n1,2\na,b\n1,2\n");
    assert!(!out.join("data.csv").exists(), "it did not change");
}

#[test]
fn exit_handlers_belong_to_the_last_cell() {
    let code = "import atexit\natexit.register(lambda: print('bye'))\nprint('hi')";
    assert_eq!(cell(code, 0)["stdout"], "hi\nbye\n");
    let done = run(&["exec", "-c", code, "-c", "1 + 1"]).exits(0);
    assert_eq!(done.stdout, "hi\n2\nbye\n");
}

#[test]
fn what_exit_handlers_write_comes_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let code = "import atexit\natexit.register(lambda: open('late.txt', 'w').write('late'))\nNone";
    let outcome = run(&["exec", "--json", "--out", out.to_str().unwrap(), "-c", code]).exits(0).json();
    assert_eq!(std::fs::read_to_string(out.join("late.txt")).unwrap(), "late");
    assert_eq!(outcome["files"][0]["path"], "late.txt");
}

#[test]
fn a_session_that_died_has_no_end_and_costs_nothing_more() {
    let code = "import atexit, os\natexit.register(lambda: print('bye'))\nprint('hi', flush=True)\nos._exit(3)";
    let outcome = cell(code, 3);
    assert_eq!(outcome["stdout"], "hi\n");
    assert_eq!(outcome["note"].as_str().unwrap().matches("the cell was undone").count(), 1, "{outcome}");
}

#[test]
fn results_that_cannot_be_copied_out_lose_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir_all(out.join("made.txt")).unwrap();
    let code = "open('made.txt', 'w').write('x')\nprint('done')";
    let done = run(&["exec", "--json", "--out", out.to_str().unwrap(), "-c", code]).exits(2);
    assert_eq!(done.json()["stdout"], "done\n");
    assert!(done.stderr.starts_with("error: ") && done.stderr.contains("copying results"), "{}", done.stderr);
}

#[test]
fn terminal_escapes_pass_to_a_pipe_unchanged() {
    assert_eq!(run(&["exec", "-c", "print('\\x1b[31mred')"]).exits(0).stdout, "\x1b[31mred\n");
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    ready();
    let mut command = tool(&["exec", "-c", "print('x' * 1000000)"]);
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert_eq!(stderr, "");
}

#[test]
fn a_model_is_never_loaded_for_cells() {
    ready();
    let mut command = tool(&["exec", "-c", "print(1)", "--model", "/nowhere/model.gguf"]);
    command.env("SLM_CODE_INTERPRETER_ONNXRUNTIME", "/nowhere/libonnxruntime.so");
    assert_eq!(finish(command).exits(0).stdout, "1\n");
}
