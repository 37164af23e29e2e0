//! How many easy tasks the loop solves, with the embedded model and the real sandbox: guides, and ways to try again.
//!
//! `cargo bench --bench solve`, or `-- --guide none,fence,python --ways feedback,fresh,mixed --seeds 3 --attempts 3`. The
//! first attempt is greedy and the same for all seeds and ways. A task is right when the last lines of the output are
//! those expected, with or without words before them on the same line. Times with retries leave out what the first attempt
//! had solved already; tokens and attempts count it.

#![allow(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::time::{Duration, Instant};

use serde::Deserialize;
use slm_code_interpreter::model::{Guide, Sampling};
use slm_code_interpreter::{Answer, CodeInterpreter, Limits, Request, Status};

#[derive(Deserialize)]
struct Task {
    ask: String,
    data: Option<String>,
    expect: String,
}

/// How an attempt after a failed one goes about it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// As the loop does: the error goes back to the model.
    Feedback,
    /// The same question again, drawn freely.
    Fresh,
    /// The same question again, and after that the error.
    Mixed,
}

/// What came of all tasks.
#[derive(Default)]
struct Tally {
    right: usize,
    fenced: usize,
    parses: usize,
    runs: usize,
    attempts: usize,
    tokens: usize,
    wall: Duration,
}

impl Tally {
    fn add(&mut self, task: &Task, answers: &[Answer], wall: Duration) {
        let Some(last) = answers.last() else { return };
        let outcome = last.outcome();
        let raised = outcome.and_then(|outcome| outcome.error.as_ref());
        let parses = raised.is_none_or(|error| !matches!(error.kind.as_str(), "SyntaxError" | "IndentationError"));
        let runs = outcome.is_some_and(|outcome| outcome.status == Status::Ok);
        self.right += usize::from(runs && is_right(&last.stdout, &task.expect));
        self.fenced += usize::from(last.response.trim_end().ends_with("```"));
        self.parses += usize::from(outcome.is_some() && parses);
        self.runs += usize::from(runs);
        self.attempts += answers.iter().map(|answer| answer.attempts).sum::<usize>();
        self.tokens += answers.iter().map(|answer| answer.usage.completion_tokens).sum::<usize>();
        self.wall += wall;
    }

    fn show(&self, what: &str, tasks: usize) {
        let Self { right, fenced, parses, runs, attempts, tokens, wall } = self;
        let seconds = wall.as_secs_f64();
        println!(
            "{what:<28} {right:>3} right of {tasks}  {fenced:>3} fenced {parses:>3} parse {runs:>3} run  \
             {attempts:>4} attempts {tokens:>6} tokens {seconds:>6.1} s"
        );
    }
}

fn is_right(stdout: &str, expected: &str) -> bool {
    let said: Vec<Vec<&str>> =
        stdout.lines().map(|line| line.split_whitespace().collect()).filter(|line: &Vec<_>| !line.is_empty()).collect();
    let wanted: Vec<Vec<&str>> = expected.lines().map(|line| line.split_whitespace().collect()).collect();
    let ends_with = |said: &Vec<&str>, wanted: &Vec<&str>| {
        let Some(first) = said.len().checked_sub(wanted.len()) else { return false };
        said[first..].iter().zip(wanted).all(|(said, wanted)| same(said, wanted))
    };
    let Some(first) = said.len().checked_sub(wanted.len()) else { return false };
    said[first..].iter().zip(&wanted).all(|(said, wanted)| ends_with(said, wanted))
}

/// The same word, or the same number to two places.
fn same(said: &str, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    said == wanted || number(said).zip(number(wanted)).is_some_and(|(said, wanted)| (said - wanted).abs() < 0.006)
}

fn request(task: &Task, guide: Guide, attempts: usize, temperature: f32, seed: u64) -> Request {
    let mut sampling = Sampling::default();
    (sampling.temperature, sampling.seed) = (temperature, seed);
    let request = Request::new(task.ask.clone()).max_retries(attempts).sampling(sampling).guide(guide);
    match &task.data {
        Some(data) => request.user_input(data.clone()),
        None => request,
    }
}

/// The answers to one task after the greedy `first` attempt; the last one counts.
fn solve(
    interpreter: &CodeInterpreter,
    task: &Task,
    (guide, way): (Guide, Way),
    first: &Answer,
    attempts: usize,
    seed: u64,
) -> Vec<Answer> {
    if first.success && !first.stdout.is_empty() {
        return vec![first.clone()];
    }
    let ask = |attempts, temperature, seed| {
        interpreter.run(request(task, guide, attempts, temperature, seed)).expect("an answer")
    };
    let mut answers = vec![first.clone()];
    match way {
        // Asks the first time over again: the same program comes of it.
        Way::Feedback => return vec![ask(attempts, 0.0, seed)],
        Way::Mixed => answers.push(ask(attempts - 1, 0.7, seed)),
        Way::Fresh => {
            for attempt in 2..=attempts {
                if answers.last().is_some_and(|answer| answer.success && !answer.stdout.is_empty()) {
                    break;
                }
                answers.push(ask(1, 0.7, seed + attempt as u64));
            }
        }
    }
    answers
}

/// The value after `flag`, or what stands for it.
fn flag(name: &str, otherwise: &str) -> String {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).unwrap_or_else(|| otherwise.to_owned())
}

fn main() {
    let tasks: Vec<Task> = serde_json::from_str(include_str!("tasks.json")).expect("the tasks");
    let number = |name, otherwise| flag(name, otherwise).parse::<usize>().expect("a number");
    let (seeds, attempts) = (number("--seeds", "3") as u64, number("--attempts", "3"));
    let mut limits = Limits::default();
    limits.wall = Duration::from_secs(5);
    let interpreter = CodeInterpreter::builder().limits(limits).build().expect("an interpreter");
    for name in flag("--guide", "none,fence,python").split(',') {
        let guide = Guide::named(name).expect("a guide");
        let first: Vec<(Answer, Duration)> = tasks
            .iter()
            .map(|task| {
                let began = Instant::now();
                let answer = interpreter.run(request(task, guide, 1, 0.0, 0)).expect("an answer");
                (answer, began.elapsed())
            })
            .collect();
        let mut tally = Tally::default();
        for (task, (answer, wall)) in tasks.iter().zip(&first) {
            tally.add(task, std::slice::from_ref(answer), *wall);
            log_task(task, std::slice::from_ref(answer));
        }
        tally.show(&format!("{name}, 1 attempt"), tasks.len());
        for seed in 0..seeds {
            for way in flag("--ways", "feedback,fresh,mixed").split(',').filter(|_| attempts > 1) {
                let way = match way {
                    "feedback" => Way::Feedback,
                    "fresh" => Way::Fresh,
                    _ => Way::Mixed,
                };
                let mut tally = Tally::default();
                for (task, (first, _)) in tasks.iter().zip(&first) {
                    let began = Instant::now();
                    let answers = solve(&interpreter, task, (guide, way), first, attempts, 1 + seed * 1_000);
                    tally.add(task, &answers, began.elapsed());
                    log_task(task, &answers);
                }
                tally.show(&format!("{name}, {way:?}, seed {seed}"), tasks.len());
            }
        }
    }
}

/// Shows what was not right, when `SOLVE_SHOW` is set.
fn log_task(task: &Task, answers: &[Answer]) {
    let Some(last) = answers.last().filter(|_| std::env::var_os("SOLVE_SHOW").is_some()) else { return };
    if !is_right(&last.stdout, &task.expect) {
        println!("--- {}\n{}\n=> {:?} {:?}", task.ask, last.response, last.stdout, last.stop_reason);
    }
}
