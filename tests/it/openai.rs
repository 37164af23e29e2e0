//! A model on a server: the built program and the library against a server of the tests' own.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use slm_code_interpreter::model::ScriptedModel;
use slm_code_interpreter::{Answer, CodeInterpreter, Config, Overrides, Progress, Python, Request};

use crate::model_server::{Act, ModelServer, delta, event, models, status, stream_head, streamed};
use crate::tool::{Done, finish, ready, tool};

const SECRET: &str = "sk-never-to-be-seen";

fn fenced(code: &str) -> String {
    format!("Here it is.\n```python\n{code}\n```\nIt prints the answer.")
}

/// Runs the program with a key in its environment; the key must be nowhere in what it says.
#[track_caller]
fn ask(base: &str, flags: &[&str]) -> Done {
    ready();
    let mut command = tool(&[&["run", "Print the answer.", "--base-url", base], flags].concat());
    command.env("SLM_CODE_INTERPRETER_API_KEY", SECRET).env_remove("SLM_CODE_INTERPRETER_MODEL_PATH");
    let done = finish(command);
    assert!(!done.stdout.contains(SECRET) && !done.stderr.contains(SECRET), "{} {}", done.stdout, done.stderr);
    done
}

#[test]
fn the_servers_model_writes_the_program() {
    let server = ModelServer::of_replies(&[&fenced("print(answer)"), &fenced("print(6 * 7)")]);
    let done = ask(&server.base(), &["--model", "mine:7b"]).exits(0);
    assert_eq!(done.stdout, "42\n");
    assert!(done.stderr.contains("attempt 1 of 3: NameError"), "{}", done.stderr);
    let asked = server.asked();
    assert_eq!(asked.len(), 2, "a name that is given is not looked up");
    assert!(asked[0].head.contains(&format!("authorization: bearer {SECRET}\r\n")), "{}", asked[0].head);
    assert_eq!(asked[1].body["model"], "mine:7b");
    let told = asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(told.contains("NameError"), "{told}");
}

#[test]
fn an_answer_counts_the_servers_tokens_and_names_its_model() {
    let server = ModelServer::of_replies(&["```python\nprint(42)\n```"]);
    let answer = ask(&server.base(), &["--json"]).exits(0).json();
    assert_eq!((&answer["model"], &answer["response"]), (&json!("served"), &json!("```python\nprint(42)\n```")));
    assert_eq!((&answer["usage"]["prompt_tokens"], &answer["usage"]["completion_tokens"]), (&json!(11), &json!(7)));
}

#[test]
fn the_address_comes_from_a_variable_or_the_config_file_too() {
    ready();
    let server = ModelServer::of_replies(&[&fenced("print(1)"), &fenced("print(2)"), &fenced("print(3)")]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    std::fs::write(&file, format!("base_url = '{}'\nmodel = 'of-file'\n", server.base())).unwrap();
    let run = |flags: &[&str], variable: Option<&str>| {
        let mut command = tool(&[&["run", "x", "--config", file.to_str().unwrap()], flags].concat());
        command.env_remove("SLM_CODE_INTERPRETER_MODEL_PATH");
        if let Some(url) = variable {
            command.env("SLM_CODE_INTERPRETER_BASE_URL", url);
        }
        finish(command)
    };
    assert_eq!(run(&[], None).exits(0).stdout, "1\n");
    let trailing = format!("{}/", server.base());
    assert_eq!(run(&["--base-url", &trailing], Some("http://127.0.0.1:1/v1")).exits(0).stdout, "2\n");
    assert_eq!(run(&[], Some(&server.bare())).exits(0).stdout, "3\n");
    assert_eq!(server.asked()[2].body["model"], "of-file");
    // None at all: the file's model is then one in this process, and there is none of that name.
    let done = run(&["--base-url", ""], None).exits(2);
    assert!(done.stderr.contains("no model `of-file`"), "{}", done.stderr);
}

#[test]
fn what_a_server_does_wrong_is_told_in_three_lines() {
    let refused = ModelServer::nowhere();
    let unauthorized = ModelServer::start(|_, asked| {
        let key = asked.head.lines().find_map(|line| line.strip_prefix("authorization: bearer ")).unwrap_or("none");
        vec![status(401, "", &json!({"error": {"message": format!("Incorrect API key: {key}")}}).to_string())]
    });
    let cut = ModelServer::start(|_, _| vec![stream_head(), event(&delta("Sure, "))]);
    for (base, words) in [
        (refused, "nothing listens there"),
        (unauthorized.base(), "SLM_CODE_INTERPRETER_API_KEY"),
        (cut.base(), "broke off"),
    ] {
        let done = ask(&base, &["--model", "m", "--quiet"]).exits(69);
        assert!(done.stderr.contains(words) && done.stderr.lines().count() <= 3, "{}", done.stderr);
        let answer = ask(&base, &["--model", "m", "--json"]).json();
        assert_eq!((&answer["success"], &answer["stop_reason"]), (&json!(false), &json!("model_error")));
        assert!(answer["error"].as_str().unwrap().contains(words), "{answer}");
    }
}

#[test]
fn no_log_line_holds_the_key() {
    ready();
    let server = ModelServer::of_replies(&[&fenced("print(42)")]);
    let mut command = tool(&["run", "x", "--base-url", &server.base(), "--verbose"]);
    command.env("SLM_CODE_INTERPRETER_LOG", "trace").env("OPENAI_API_KEY", SECRET);
    command.env_remove("SLM_CODE_INTERPRETER_API_KEY").env_remove("SLM_CODE_INTERPRETER_MODEL_PATH");
    let done = finish(command).exits(0);
    assert!(server.asked().iter().all(|asked| asked.head.contains(SECRET)), "it was sent");
    assert!(done.stderr.contains("TRACE") && !done.stderr.contains(SECRET), "{}", done.stderr);
}

#[test]
fn a_server_that_is_busy_is_waited_for_and_that_is_told() {
    let server = ModelServer::start(|n, _| match n {
        0 => vec![status(503, "retry-after: 0\r\n", "{\"error\": {\"message\": \"Loading model\"}}")],
        _ => vec![Act::Send(streamed(&fenced("print(42)")).into())],
    });
    let done = ask(&server.base(), &["--model", "m"]).exits(0);
    assert_eq!(done.stdout, "42\n");
    assert!(done.stderr.contains("Loading model; trying again"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_an_address_is_a_mistake_of_the_call() {
    for (url, words) in [("localhost:11434/v1", "http://"), ("http://me:hidden@h/v1", "API_KEY")] {
        let done = ask(url, &["--model", "m"]).exits(2);
        assert!(done.stderr.contains(words) && !done.stderr.contains("hidden"), "{}", done.stderr);
    }
    let done = ask("http://192.0.2.1/v1", &["--model", "m", "--offline"]).exits(69);
    assert!(done.stderr.contains("offline"), "{}", done.stderr);
    let server = ModelServer::start(|_, _| vec![status(404, "", "not found")]);
    let done = ask(&server.base(), &[]).exits(2);
    assert!(done.stderr.contains("--model"), "{}", done.stderr);
}

#[test]
fn no_part_of_the_local_model_is_needed() {
    let server = ModelServer::start(|_, _| vec![models(&["served"])]);
    ready();
    let items = |flags: &[&str]| {
        let mut command = tool(&[&["setup", "--check", "--json"], flags].concat());
        command.env_remove("SLM_CODE_INTERPRETER_MODEL_PATH");
        finish(command).json()["items"].as_array().unwrap().len()
    };
    let base = server.base();
    assert!(items(&["--base-url", &base]) < items(&[]), "only the sandbox is listed");
    assert!(server.asked().is_empty(), "a look asks nobody");
}

#[derive(Deserialize)]
struct Transcript {
    instruction: String,
    system_prompt: Option<String>,
    user_input: Option<String>,
    max_retries: Option<usize>,
    wall_seconds: Option<u64>,
    #[serde(default)]
    user_input_times: usize,
    replies: Vec<String>,
}

/// What must be the same whoever brings the replies: not tokens and times, and of a reply what follows its program.
fn essence(answer: &Answer) -> Value {
    let steps = answer.steps.iter().map(|step| {
        let outcome = step.outcome.as_ref();
        let error = outcome.and_then(|outcome| outcome.error.as_ref());
        json!({"code": step.code, "status": outcome.map(|outcome| outcome.status.as_str()),
            "stdout": outcome.map(|outcome| &outcome.stdout), "error": error.map(|error| (&error.kind, &error.message))})
    });
    json!({"success": answer.success, "stdout": answer.stdout, "code": answer.code, "attempts": answer.attempts,
        "stop_reason": answer.stop_reason.as_str(), "steps": steps.collect::<Vec<_>>()})
}

#[test]
fn the_same_replies_give_the_same_answer_as_from_a_script() {
    let config = Config::resolve(Overrides::default()).unwrap();
    let python = Python::open(&config, &Progress::default(), &Default::default()).unwrap();
    let mut played = 0;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")).unwrap() {
        let path = entry.unwrap().path();
        let transcript: Transcript = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        // Those that wait for a limit, or whose input is huge, say nothing more of the client.
        if transcript.wall_seconds.is_some() || transcript.user_input_times > 1 {
            continue;
        }
        let mut request = Request::new(&transcript.instruction).max_retries(transcript.max_retries.unwrap_or(3));
        request.system_prompt = transcript.system_prompt.clone();
        request.user_input = transcript.user_input.clone();
        let script = ScriptedModel::from_replies(transcript.replies.clone());
        let builder = || CodeInterpreter::builder().python(python.clone());
        let scripted = builder().custom_model(Box::new(script)).build().unwrap().run(request.clone()).unwrap();
        let replies: Vec<&str> = transcript.replies.iter().map(String::as_str).collect();
        let server = ModelServer::of_replies(&replies);
        let interpreter = builder().base_url(server.base()).model("served").build().unwrap();
        let served = interpreter.run(request).unwrap();
        assert_eq!(essence(&served), essence(&scripted), "{}", path.display());
        assert!(scripted.response.starts_with(&served.response), "{}", path.display());
        assert_eq!(served.model, "served");
        played += 1;
    }
    assert!(played >= 15, "only {played} transcripts");
}
