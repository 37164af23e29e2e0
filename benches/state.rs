//! State as a value: checkpoint, fork, rewind, save and load, and what keeping an undo costs a cell.
//!
//! `cargo bench --bench state`. The image must be there (`cargo run --release -- setup`). Medians of many; the last
//! lines are a probe of the machine in the same run, to set them against.

#![expect(clippy::print_stdout, reason = "a bench shows what it measured")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use slm_code_interpreter::sandbox::on_python_thread;
use slm_code_interpreter::{
    Cancel, Config, Limits, Outcome, Overrides, Progress, Python, Session, SessionOptions, Status,
};

const ROUNDS: usize = 101;

/// 100,000 rows of two integer columns.
const FRAME: &str = "import pandas as pd\ndf = pd.DataFrame({'a': range(100_000), 'b': range(100_000)})\nx = 0";
const LIGHT: &str = "x = 0";

fn run(session: &mut Session, code: &str) -> Outcome {
    let outcome = session.exec(code, &Cancel::new()).expect("the sandbox runs");
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    outcome
}

/// The median of `ROUNDS` times that `work` took; it gives the time of the part that counts.
fn median(mut work: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS).map(|_| work()).collect();
    times.sort();
    times[ROUNDS / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn show(what: &str, time: Duration) {
    println!("{what:<58} {:>9.3} ms", time.as_secs_f64() * 1e3);
}

fn measure(python: &Python, kind: &str, begin: &str) {
    let session = |options: SessionOptions| {
        let mut session = python.session(options).expect("a session");
        run(&mut session, begin);
        run(&mut session, "x += 1");
        session
    };
    let with_undo = || session(SessionOptions::new(Limits::default()));

    let mut plain = session(SessionOptions::new(Limits::default()).undo(false));
    show(&format!("{kind}: next cell, no undo"), median(|| timed(|| run(&mut plain, "x += 1"))));
    let mut kept = with_undo();
    show(&format!("{kind}: next cell, undo kept"), median(|| timed(|| run(&mut kept, "x += 1"))));
    show(&format!("{kind}: checkpoint"), median(|| timed(|| kept.checkpoint().expect("a checkpoint"))));
    let fork = || {
        let mut fork = None;
        let time = timed(|| {
            let made = fork.insert(kept.fork().expect("a fork"));
            run(made, "x += 1")
        });
        drop(fork);
        time
    };
    show(&format!("{kind}: fork, its first cell included"), median(fork));
    let rewind = || {
        run(&mut kept, "x += 1");
        timed(|| {
            assert!(kept.rewind().expect("undo is kept"));
            run(&mut kept, "x += 1")
        })
    };
    show(&format!("{kind}: rewind, the next cell included"), median(rewind));
}

fn main() {
    let config = Config::resolve(Overrides::default()).expect("the settings");
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    on_python_thread(|| {
        measure(&python, "light", LIGHT);
        measure(&python, "100,000 rows", FRAME);
        measure(&python, "200 MB", "import numpy\nbig = numpy.ones(25_000_000)\nx = 0");
    })
    .expect("a thread for Python");
    let (from, mut to) = (vec![1_u8; 8 << 20], vec![0_u8; 8 << 20]);
    show("probe: copying 8 MiB of memory", median(|| timed(|| to.copy_from_slice(black_box(&from)))));
}
