//! This project's side of `benches/peers/sandbox.py`: reads one row's name a line, does its work once, answers with the
//! seconds it took.

#![expect(clippy::print_stdout, reason = "it talks to the script that started it")]

use std::io::{BufRead, stdin};
use std::time::{Duration, Instant};

use slm_code_interpreter::sandbox::on_python_thread;
use slm_code_interpreter::{
    Cancel, Config, Limits, Outcome, Overrides, Progress, Python, Session, SessionOptions, Status,
};

fn main() {
    // `cargo bench` itself adds a flag; the script names the programs' folder.
    let Some(folder) = std::env::args().skip(1).find(|word| !word.starts_with("--")) else {
        return println!("this is started by benches/peers/sandbox.py");
    };
    let config = Config::resolve(Overrides::default()).expect("the settings");
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    let program = |name: &str| std::fs::read_to_string(format!("{folder}/{name}.py")).expect("a program");
    let mut next = session(&python);
    run(&mut next, "x = 0");
    println!("ready {} with CPython {}", env!("CARGO_PKG_VERSION"), Python::VERSION);
    for row in stdin().lock().lines().map_while(Result::ok) {
        let code = program(&row);
        let time = on_python_thread(|| match row.as_str() {
            "next" => timed(|| run(&mut next, &code)),
            _ => timed(|| run(&mut session(&python), &code)),
        });
        println!("{}", time.expect("a thread for Python").as_secs_f64());
    }
}

fn session(python: &Python) -> Session {
    python.session(SessionOptions::new(Limits::default())).expect("a session")
}

fn run(session: &mut Session, code: &str) -> Outcome {
    let outcome = session.exec(code, &Cancel::new()).expect("the sandbox runs");
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    outcome
}

fn timed(work: impl FnOnce() -> Outcome) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}
