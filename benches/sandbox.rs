//! A fresh interpreter, made on demand and taken from stock, a fresh one with pandas, with a plot, a next cell; and
//! `python3 -c` in the same run, to compare with.
//!
//! `cargo bench --bench sandbox`. The image must be there (`cargo run --release -- setup`).

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use slm_code_interpreter::sandbox::on_python_thread;
use slm_code_interpreter::{Cancel, Config, Limits, Outcome, Overrides, Progress, Python, SessionOptions, Status};

const DATAFRAME: &str = "import pandas as pd\nprint(pd.DataFrame({'a': [1, 2, 3], 'b': [4, 5, 6]}).sum().sum())";

const SHOWN: &str = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [1, 4, 9])\nplt.show()";
const SAVED: &str =
    "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [1, 4, 9])\nplt.savefig('plot.png')\nplt.close()";

fn ok(outcome: slm_code_interpreter::Result<Outcome>) -> Outcome {
    let outcome = outcome.expect("the sandbox runs");
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    outcome
}

fn fresh(python: &Python, code: &str) -> Outcome {
    let mut session = python.session(SessionOptions::new(Limits::default())).expect("a session");
    ok(session.exec(code, &Cancel::new()))
}

/// `rounds` of `work` on one Python thread, as a program with many cells would run them.
fn timed(rounds: u64, mut work: impl FnMut() -> Outcome + Send) -> Duration {
    on_python_thread(|| {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(work());
        }
        start.elapsed()
    })
    .expect("a thread for Python")
}

/// Interpreters that are held ready: few enough that the processor's cache still has what was written to them.
const STOCK: u64 = 16;

/// From a session's beginning to the outcome of its first cell, with interpreters that are ready before the time begins, in
/// bursts that leave more than half of them. What the end of a session costs is not in it.
fn timed_from_stock(python: &Python, rounds: u64, code: &str) -> Duration {
    let (mut left, mut taken) = (rounds, Duration::ZERO);
    while left > 0 {
        let burst = left.min(STOCK / 2 - 1);
        python.wait_ready();
        let mut ended = Vec::new();
        taken += timed(burst, || {
            let mut session = python.session(SessionOptions::new(Limits::default())).expect("a session");
            let outcome = ok(session.exec(code, &Cancel::new()));
            ended.push(session);
            outcome
        });
        left -= burst;
    }
    taken
}

fn command(program: &str, args: &[&str]) {
    let status = Command::new(program).args(args).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {args:?}");
}

fn sandbox(criterion: &mut Criterion) {
    let mut config = Config::resolve(Overrides::default()).expect("the settings");
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    config.capacity = config.capacity.ready(STOCK as usize);
    let stocked = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    let us = env!("CARGO_BIN_EXE_slm-code-interpreter");

    let mut group = criterion.benchmark_group("in process");
    group.bench_function("fresh interpreter, print(1+1)", |b| {
        b.iter_custom(|n| timed(n, || fresh(&python, "print(1+1)")))
    });
    group.bench_function("fresh interpreter, DataFrame sum", |b| {
        b.iter_custom(|n| timed(n, || fresh(&python, DATAFRAME)))
    });
    group.bench_function("fresh interpreter from stock, print(1+1)", |b| {
        b.iter_custom(|n| timed_from_stock(&stocked, n, "print(1+1)"))
    });
    for (name, code) in [("fresh interpreter, first plot shown", SHOWN), ("fresh interpreter, first plot saved", SAVED)]
    {
        group.bench_function(name, |b| b.iter_custom(|n| timed(n, || fresh(&python, code))));
    }
    for (name, undo) in [("next cell, x += 1", true), ("next cell without undo, x += 1", false)] {
        let options = SessionOptions::new(Limits::default()).undo(undo);
        let mut session = python.session(options).expect("a session");
        ok(session.exec("x = 0", &Cancel::new()));
        group.bench_function(name, |b| b.iter_custom(|n| timed(n, || ok(session.exec("x += 1", &Cancel::new())))));
    }
    group.finish();

    let mut session = python.session(SessionOptions::new(Limits::default())).expect("a session");
    ok(session.exec("x = 0", &Cancel::new()));
    let mut group = criterion.benchmark_group("handed over to a Python thread");
    group.bench_function("next cell, x += 1", |b| b.iter(|| black_box(ok(session.exec("x += 1", &Cancel::new())))));
    group.finish();

    let mut group = criterion.benchmark_group("whole process");
    group.sample_size(20);
    group.bench_function("exec -c print(1)", |b| b.iter(|| command(us, &["exec", "-c", "print(1)"])));
    group.bench_function("python3 -c print(1)", |b| b.iter(|| command("python3", &["-c", "print(1)"])));
    group.bench_function("exec -c DataFrame sum", |b| b.iter(|| command(us, &["exec", "-c", DATAFRAME])));
    group.finish();
}

criterion_group!(benches, sandbox);
criterion_main!(benches);
