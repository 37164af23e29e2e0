//! Cells of the sandbox, through the library.

use std::sync::OnceLock;
use std::time::Duration;

use slm_code_interpreter::{
    Cancel, Config, Limits, Outcome, Overrides, Progress, Python, Session, SessionOptions, Status,
};

/// The interpreter as it is configured by default, opened once.
pub fn python() -> &'static Python {
    static PYTHON: OnceLock<Python> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let config = Config::resolve(Overrides::default()).expect("the settings");
        Python::open(&config, &Progress::default(), &Cancel::new()).expect("the interpreter image")
    })
}

/// Time enough on a machine that has other things to do.
pub fn options() -> SessionOptions {
    SessionOptions::new(Limits::default().wall(Duration::from_secs(60)))
}

pub fn session(options: SessionOptions) -> Session {
    python().session(options).expect("a session")
}

pub fn exec(session: &mut Session, code: &str) -> Outcome {
    session.exec(code, &Cancel::new()).expect("the sandbox runs")
}

/// A cell that must end well.
#[track_caller]
pub fn run(session: &mut Session, code: &str) -> Outcome {
    let outcome = exec(session, code);
    assert_eq!(outcome.status, Status::Ok, "{:?}\n{}", outcome.error, outcome.stderr);
    outcome
}

/// What a cell that ends well prints.
#[track_caller]
pub fn prints(session: &mut Session, code: &str) -> String {
    run(session, code).stdout
}
