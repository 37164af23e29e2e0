//! Instructions, with a scripted model: the loop as the command line shows it.

use std::path::Path;

use serde_json::json;

use crate::tool::{Done, run, run_with};

/// A file of replies, and the value of `--model` for it.
fn script(folder: &Path, replies: &[&str]) -> String {
    let file = folder.join("replies.jsonl");
    let lines: Vec<_> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    format!("scripted:{}", file.display())
}

fn fenced(code: &str) -> String {
    format!("Here it is.\n```python\n{code}\n```\n")
}

/// Runs an instruction against `replies`.
#[track_caller]
fn ask(replies: &[&str], flags: &[&str]) -> Done {
    let folder = tempfile::tempdir().unwrap();
    let model = script(folder.path(), replies);
    run(&[&["run", "Print the answer.", "--model", model.as_str()], flags].concat())
}

#[test]
fn the_programs_output_is_all_there_is_on_stdout() {
    let done = ask(&[&fenced("print(6 * 7)")], &[]).exits(0);
    assert_eq!(done.stdout, "42\n");
}

#[test]
fn errors_go_back_and_the_attempts_are_told() {
    let replies = [fenced("print(answer)"), fenced("print(1 / 0)"), fenced("print(42)")];
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let done = ask(&replies, &[]).exits(0);
    assert_eq!(done.stdout, "42\n");
    assert!(
        done.stderr.contains("attempt 1 of 3: NameError: name 'answer' is not defined (line 1)"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("attempt 2 of 3: ZeroDivisionError"), "{}", done.stderr);
    assert_eq!(ask(&replies, &["--quiet"]).exits(0).stderr, "");
}

#[test]
fn no_success_shows_the_last_error() {
    let done = ask(&[&fenced("print('so far')\nprint(answer)")], &["--max-retries", "1"]).exits(1);
    assert_eq!(done.stdout, "so far\n");
    assert!(done.stderr.contains("NameError: name 'answer' is not defined"), "{}", done.stderr);
    assert!(done.stderr.contains("no success after 1 attempt"), "{}", done.stderr);
}

#[test]
fn an_answer_is_one_document() {
    let replies = [fenced("print(answer)"), fenced("print(42)")];
    let answer = ask(&[&replies[0], &replies[1]], &["--json"]).exits(0).json();
    assert_eq!(answer["success"], true);
    assert_eq!(answer["stdout"], "42\n");
    assert_eq!(answer["attempts"], 2);
    assert_eq!(answer["code"].as_str().unwrap().trim(), "print(42)");
    assert_eq!(answer["stop_reason"], "answered");
    assert_eq!(answer["steps"].as_array().unwrap().len(), 2);
    assert_eq!(answer["steps"][0]["outcome"]["error"]["type"], "NameError");
    for key in ["stderr", "response", "model", "usage"] {
        assert!(answer.get(key).is_some(), "{key}");
    }
    let spent = ask(&[&replies[0]], &["--json"]).exits(1).json();
    assert_eq!((&spent["success"], &spent["stop_reason"]), (&json!(false), &json!("model_error")));
    assert!(spent["steps"][0]["outcome"]["error"]["type"] == "NameError", "what ran is still there: {spent}");
}

#[test]
fn data_comes_from_a_flag_a_file_or_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let model = script(folder.path(), &[&fenced("print(user_input.upper())")]);
    let data = folder.path().join("data.txt");
    std::fs::write(&data, "from a file").unwrap();
    let at = format!("@{}", data.display());
    let base = ["run", "Shout.", "--model", model.as_str()];
    assert_eq!(run(&[&base[..], &["--user-input", "from a flag"]].concat()).exits(0).stdout, "FROM A FLAG\n");
    assert_eq!(run(&[&base[..], &["--user-input", &at]].concat()).exits(0).stdout, "FROM A FILE\n");
    assert_eq!(run_with(&base, "from a pipe").exits(0).stdout, "FROM A PIPE\n");
    assert_eq!(run_with(&[&base[..], &["--user-input", "-x"]].concat(), "unread").exits(0).stdout, "-X\n");
}

#[test]
fn the_program_and_its_files_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (program, out) = (folder.path().join("program.py"), folder.path().join("out"));
    let flags = ["--save-code", program.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let reply = fenced("open('made.txt', 'w').write('x')\nprint('done')");
    assert_eq!(ask(&[&reply], &flags).exits(0).stdout, "done\n");
    assert!(std::fs::read_to_string(program).unwrap().contains("made.txt"));
    assert_eq!(std::fs::read_to_string(out.join("made.txt")).unwrap(), "x");
}
