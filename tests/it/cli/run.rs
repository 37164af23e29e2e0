//! Instructions, with a scripted model: the loop as the command line shows it.

use std::path::Path;

use serde_json::json;

use crate::tool::{Done, finish, ready, run, run_with, tool};

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
fn a_stop_is_told_once_and_a_reply_without_a_program_too() {
    let done = ask(&[&fenced("print('so far')\nwhile True: pass")], &["--max-retries", "1", "--timeout", "1"]).exits(1);
    assert_eq!(done.stdout, "so far\n");
    let lines: Vec<_> = done.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("stopped after 1.") && lines[0].contains("--timeout SECONDS"), "{lines:?}");
    assert!(lines[1].contains("no success after 1 attempt") && !lines[1].contains("stopped"), "{lines:?}");
    let done = ask(&["I cannot do that."], &["--max-retries", "1"]).exits(1);
    assert_eq!(done.stderr.matches("no program").count(), 1, "{}", done.stderr);
}

#[test]
fn displays_are_shown_as_in_a_cell() {
    let done = ask(&[&fenced("display('shown')\n6 * 7")], &[]).exits(0);
    assert_eq!(done.stdout, "'shown'\n42\n");
}

#[test]
fn the_config_file_that_is_named_is_the_only_one() {
    ready();
    let folder = tempfile::tempdir().unwrap();
    let model = script(folder.path(), &[&fenced("print(6 * 7)")]);
    let mine = folder.path().join("mine.toml");
    std::fs::write(&mine, format!("model = '{model}'\n")).unwrap();
    let named = ["run", "Print the answer.", "--config", mine.to_str().unwrap()];
    assert_eq!(finish(tool(&named)).exits(0).stdout, "42\n");

    // Where the platform keeps its own on Linux: what `mine` leaves open is not taken from there.
    let platform = folder.path().join("slm-code-interpreter");
    std::fs::create_dir(&platform).unwrap();
    std::fs::write(platform.join("config.toml"), "model = 'scripted:/nowhere/other.jsonl'").unwrap();
    std::fs::write(&mine, "onnxruntime = '/nowhere/onnxruntime.so'\noffline = true\n").unwrap();
    let mut command = tool(&named);
    command.env("XDG_CONFIG_HOME", folder.path()).env_remove("SLM_CODE_INTERPRETER_MODEL_PATH");
    let done = finish(command).exits(69);
    assert!(!done.stderr.contains("other.jsonl"), "{}", done.stderr);
}

#[test]
fn what_exit_handlers_print_and_write_is_part_of_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let code = "import atexit\ndef late():\n    open('late.txt', 'w').write('late')\n    print('bye')\natexit.register(late)\nprint('hi')";
    let out_flag = ["--out", out.to_str().unwrap()];
    let answer = ask(&[&fenced(code)], &[&out_flag[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(answer["stdout"], "hi\nbye\n");
    assert_eq!(answer["steps"][0]["outcome"]["files"][0]["path"], "late.txt");
    assert_eq!(std::fs::read_to_string(out.join("late.txt")).unwrap(), "late");
    assert_eq!(ask(&[&fenced(code)], &out_flag).exits(0).stdout, "hi\nbye\n");
}

#[test]
fn exit_handlers_that_do_not_end_change_no_success() {
    let code = "import atexit\ndef spin():\n    while True: pass\natexit.register(spin)\nprint('hi')";
    let answer = ask(&[&fenced(code)], &["--json", "--timeout", "1"]).exits(0).json();
    assert_eq!((&answer["success"], &answer["stdout"]), (&json!(true), &json!("hi\n")));
    assert_eq!(answer["steps"][0]["outcome"]["status"], "ok");
    assert!(answer["stderr"].as_str().unwrap().contains("the exit handlers did not end well: timeout"), "{answer}");
    let done = ask(&[&fenced(code)], &["--timeout", "1"]).exits(0);
    assert_eq!(done.stdout, "hi\n");
    assert_eq!(done.stderr, "slm-code-interpreter: the exit handlers did not end well: timeout\n");
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
    assert_eq!(run_with(&[&base[..], &["--user-input", "@-"]].concat(), "asked for").exits(0).stdout, "ASKED FOR\n");
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
