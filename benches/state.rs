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

/// From a cancel in another thread to the outcome, for cells that are busy in different ways: the median and the worst.
fn cancels(python: &Python) {
    let programs = [
        ("a loop", "while True: pass"),
        ("a sleep", "import time; time.sleep(600)"),
        ("a regular expression", "import re; re.match('(a|a)*$', 'a' * 99 + 'b')"),
        ("a large power", "3 ** 10 ** 8"),
        ("a matrix product", "import numpy\na = numpy.ones((1500, 1500))\nwhile True: a @ a"),
        ("a flood of output", "while True: print('x' * 99)"),
        ("a flood of random bytes", "import os\nwhile True: os.urandom(1 << 24)"),
        ("a flood of file calls", "while True:\n    open('f', 'wb').write(bytes(1 << 20))"),
        ("memory filled and freed", "while True: bytearray(300 << 20)"),
    ];
    for (what, code) in programs {
        let mut session = python.session(SessionOptions::new(Limits::default())).expect("a session");
        run(&mut session, "x = 0");
        let mut times: Vec<_> = (0..11)
            .map(|round| {
                let cancel = Cancel::new();
                let (started, stop) = (Instant::now(), cancel.clone());
                let asked = std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(60 + 3 * round));
                    stop.cancel();
                    started.elapsed()
                });
                let outcome = session.exec(code, &cancel).expect("the sandbox runs");
                let ended = started.elapsed();
                assert_eq!(outcome.status, Status::Cancelled, "{what}");
                ended.saturating_sub(asked.join().expect("no panic"))
            })
            .collect();
        times.sort();
        let worst = times[times.len() - 1].as_secs_f64() * 1e3;
        show(&format!("cancel of {what} (worst {worst:.1} ms)"), times[times.len() / 2]);
    }
}

/// Out to a file and back, for the session with the table.
fn files(python: &Python) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session");
    let mut session = python.session(SessionOptions::new(Limits::default())).expect("a session");
    run(&mut session, FRAME);
    show("100,000 rows: save", median(|| timed(|| session.save(&path).expect("saved"))));
    let load = || Session::load(python, &path, SessionOptions::new(Limits::default())).expect("loaded");
    show("100,000 rows: load", median(|| timed(load)));
    show(
        "100,000 rows: load, its first cell included",
        median(|| {
            let mut loaded = None;
            let time = timed(|| run(loaded.insert(load()), "x += 1"));
            drop(loaded);
            time
        }),
    );
    let bytes = std::fs::metadata(&path).expect("the file").len();
    println!("{:<58} {:>9.3} MB", "100,000 rows: the file", bytes as f64 / 1e6);
    let fill = "with open('/work/f', 'wb') as f:\n    for _ in range(512): f.write(bytes(range(256)) * 256)";
    run(&mut session, fill);
    show("100,000 rows and 32 MiB of files: checkpoint", median(|| timed(|| session.checkpoint().expect("one"))));
}

fn main() {
    let config = Config::resolve(Overrides::default()).expect("the settings");
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    on_python_thread(|| {
        measure(&python, "light", LIGHT);
        measure(&python, "100,000 rows", FRAME);
        files(&python);
        measure(&python, "200 MB", "import numpy\nbig = numpy.ones(25_000_000)\nx = 0");
    })
    .expect("a thread for Python");
    cancels(&python);
    let (from, mut to) = (vec![1_u8; 8 << 20], vec![0_u8; 8 << 20]);
    show("probe: copying 8 MiB of memory", median(|| timed(|| to.copy_from_slice(black_box(&from)))));
}
