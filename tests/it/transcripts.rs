//! Runs every `tests/transcripts/*.json`: replies replayed by a scripted model, programs run in the real sandbox, and
//! what the answer must say. A file that is not understood in full is a failure.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use slm_code_interpreter::model::{Message, Model, Prompt, Refusal, Reply, ScriptedModel};
use slm_code_interpreter::{Answer, Cancel, CodeInterpreter, Event, Limits, Python, Request, SessionOptions};

use crate::python::python;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transcript {
    /// What it shows; for the reader.
    about: String,
    instruction: String,
    system_prompt: Option<String>,
    user_input: Option<String>,
    /// The input is repeated so many times, for inputs too big to write down.
    #[serde(default = "one")]
    user_input_times: usize,
    #[serde(default = "three")]
    max_retries: usize,
    wall_seconds: Option<u64>,
    replies: Vec<String>,
    expect: Expect,
}

fn one() -> usize {
    1
}

fn three() -> usize {
    3
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    success: bool,
    attempts: usize,
    stop_reason: String,
    /// All of it.
    stdout: Option<String>,
    #[serde(default)]
    stdout_contains: Vec<String>,
    #[serde(default)]
    stderr_contains: Vec<String>,
    /// All of the last program.
    code: Option<String>,
    result: Option<String>,
    #[serde(default)]
    error_contains: Vec<String>,
    steps: Vec<Step>,
    #[serde(default)]
    told: Vec<Told>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// `no_code` when the reply held none.
    status: String,
    /// The exception's type.
    error: Option<String>,
    line: Option<u32>,
    exit_code: Option<i32>,
    limit: Option<String>,
}

/// What the model must and must not have read in the question before reply `reply`, counted from 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    reply: usize,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
    /// No line of the last message may begin with any of these.
    #[serde(default)]
    no_line_begins: Vec<String>,
    longest: Option<usize>,
}

/// A scripted model that keeps what it was asked.
struct Recording {
    script: ScriptedModel,
    asked: Arc<Mutex<Vec<Vec<Message>>>>,
}

impl Model for Recording {
    fn name(&self) -> &str {
        self.script.name()
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        self.asked.lock().expect("the questions").push(prompt.messages.to_vec());
        self.script.generate(prompt, on_text, cancel)
    }
}

/// Collects what is wrong instead of stopping at the first.
#[derive(Default)]
struct Check(Vec<String>);

impl Check {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, got: T, expected: T) {
        if got != expected {
            self.0.push(format!("{what}: got {got:?}, expected {expected:?}"));
        }
    }

    fn contains(&mut self, what: &str, text: &str, parts: &[String]) {
        for part in parts.iter().filter(|part| !text.contains(*part)) {
            self.0.push(format!("{what}: no {part:?} in {text:?}"));
        }
    }

    fn lacks(&mut self, what: &str, text: &str, parts: &[String]) {
        for part in parts.iter().filter(|part| text.contains(*part)) {
            self.0.push(format!("{what}: {part:?} in {text:?}"));
        }
    }
}

#[test]
fn every_transcript_ends_as_written() {
    let mut files = transcripts();
    files.sort();
    assert!(files.len() >= 20, "only {} transcripts", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a transcript");
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let found = match serde_json::from_str::<Transcript>(&text) {
            Ok(transcript) => play(python(), &transcript)
                .into_iter()
                .map(|wrong| format!("{name} ({}): {wrong}", transcript.about))
                .collect(),
            Err(error) => vec![format!("{name}: {error}")],
        };
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn transcripts() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
    std::fs::read_dir(folder).expect("tests/transcripts").map(|entry| entry.expect("an entry").path()).collect()
}

fn play(python: &Python, transcript: &Transcript) -> Vec<String> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let script = ScriptedModel::from_replies(transcript.replies.clone());
    let interpreter = CodeInterpreter::builder()
        .python(python.clone())
        .custom_model(Box::new(Recording { script, asked: asked.clone() }))
        .build()
        .expect("an interpreter");
    let mut limits = Limits::default();
    if let Some(seconds) = transcript.wall_seconds {
        limits.wall = Duration::from_secs(seconds);
    }
    let mut options = SessionOptions::default();
    options.limits = limits;
    let mut session = interpreter.session(options).expect("a session");
    let mut request = Request::new(&transcript.instruction);
    request.max_retries = transcript.max_retries;
    request.system_prompt = transcript.system_prompt.clone();
    request.user_input = transcript.user_input.as_ref().map(|input| input.repeat(transcript.user_input_times));
    let mut ran = 0;
    let mut observer = |event: Event<'_>| ran += usize::from(matches!(event, Event::Outcome(_)));
    let answer = interpreter.run_in(&mut session, &request, &mut observer, &Cancel::new()).expect("an answer");

    let mut check = Check::default();
    check_answer(&mut check, &transcript.expect, &answer);
    check.equal("programs run", ran, transcript.expect.steps.iter().filter(|step| step.status != "no_code").count());
    let asked = asked.lock().expect("the questions");
    for told in &transcript.expect.told {
        match told.reply.checked_sub(1).and_then(|n| asked.get(n)) {
            Some(messages) => check_told(&mut check, told, messages),
            None => check.0.push(format!("there was no question {}", told.reply)),
        }
    }
    check.0
}

fn check_answer(check: &mut Check, expect: &Expect, answer: &Answer) {
    check.equal("success", answer.success, expect.success);
    check.equal("attempts", answer.attempts, expect.attempts);
    check.equal("stop_reason", answer.stop_reason.as_str(), expect.stop_reason.as_str());
    if let Some(stdout) = &expect.stdout {
        check.equal("stdout", &answer.stdout, stdout);
    }
    if let Some(code) = &expect.code {
        check.equal("code", &answer.code, code);
    }
    check.equal("result", answer.result_text(), expect.result.as_deref());
    check.contains("stdout", &answer.stdout, &expect.stdout_contains);
    check.contains("stderr", &answer.stderr, &expect.stderr_contains);
    let error = answer.error.as_deref();
    check.equal("an error", error.is_some(), !expect.error_contains.is_empty());
    check.contains("error", error.unwrap_or_default(), &expect.error_contains);
    check.equal("steps", answer.steps.len(), expect.steps.len());
    for (n, (step, expected)) in answer.steps.iter().zip(&expect.steps).enumerate() {
        let what = |of: &str| format!("step {}: {of}", n + 1);
        let outcome = step.outcome.as_ref();
        check.equal(&what("status"), outcome.map_or("no_code", |outcome| outcome.status.as_str()), &expected.status);
        let error = outcome.and_then(|outcome| outcome.error.as_ref());
        check.equal(&what("error"), error.map(|error| error.kind.as_str()), expected.error.as_deref());
        if expected.line.is_some() {
            check.equal(&what("line"), error.and_then(|error| error.line), expected.line);
        }
        if expected.exit_code.is_some() {
            check.equal(&what("exit_code"), outcome.and_then(|outcome| outcome.exit_code), expected.exit_code);
        }
        let limit = outcome.and_then(|outcome| outcome.limit.as_ref());
        check.equal(&what("limit"), limit.map(|limit| limit.name), expected.limit.as_deref());
    }
}

fn check_told(check: &mut Check, told: &Told, messages: &[Message]) {
    let what = format!("told before reply {}", told.reply);
    let all: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    let all = all.join("\n");
    check.contains(&what, &all, &told.contains);
    check.lacks(&what, &all, &told.lacks);
    let last = messages.last().map_or("", |message| message.content.as_str());
    for begin in &told.no_line_begins {
        if let Some(line) = last.lines().find(|line| line.starts_with(begin)) {
            check.0.push(format!("{what}: a line begins with {begin:?}: {line:?}"));
        }
    }
    if let Some(longest) = told.longest.filter(|longest| all.chars().count() > *longest) {
        check.0.push(format!("{what}: {} characters, more than {longest}", all.chars().count()));
    }
}
