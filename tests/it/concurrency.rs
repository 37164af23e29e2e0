//! asyncio, executors, pools and waits, as people write them: `tests/concurrency/*.py`.
//!
//! Each file is one session, its cells separated by `# --- turn ---`. What a cell must print stands in lines that begin
//! with `#> `, its result after `#= `, the beginning of its error (`type: message`) after `#! `.

use std::path::Path;
use std::time::Duration;

use slm_code_interpreter::{Limits, Outcome, Session, SessionOptions, Status};

use crate::python::{exec, options, python};

fn session() -> Session {
    crate::python::session(options())
}

/// The lines of a cell that begin with a mark, without it.
fn marked(cell: &str, mark: &str) -> Vec<String> {
    cell.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
}

/// What is wrong with a cell's outcome.
fn wrong(cell: &str, outcome: &Outcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut differs = |what: &str, is: String, should: String| {
        if is != should {
            wrong.push(format!("{what} is {is:?}, should be {should:?}"));
        }
    };
    let lines = outcome.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
    differs("stdout", lines.join("\n"), marked(cell, "#> ").join("\n"));
    differs("stderr", outcome.stderr.clone(), String::new());
    let error = outcome.error.as_ref().map(|error| format!("{}: {}", error.kind, error.message)).unwrap_or_default();
    let expected = marked(cell, "#! ").pop().unwrap_or_default();
    differs("the error", error.get(..expected.len()).unwrap_or(&error).to_owned(), expected.clone());
    if expected.is_empty() {
        differs("the error", error, String::new());
    }
    if let Some(result) = marked(cell, "#= ").pop() {
        let text = outcome.result.as_ref().and_then(|bundle| bundle.get("text/plain")).cloned().unwrap_or_default();
        differs("the result", text, result);
    }
    if outcome.error.as_ref().is_some_and(|error| error.traceback.contains("_slm")) {
        wrong.push(format!("the traceback shows the driver: {}", outcome.error.as_ref().unwrap().traceback));
    }
    wrong
}

#[track_caller]
fn program(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/concurrency").join(name);
    let text = std::fs::read_to_string(path).expect("the program");
    // In counted time a busy machine changes no order.
    let (mut session, mut all) = (python().session(options().deterministic(1)).expect("a session"), Vec::new());
    for (number, cell) in (1..).zip(text.split("# --- turn ---\n")) {
        all.extend(wrong(cell, &exec(&mut session, cell)).into_iter().map(|text| format!("cell {number}: {text}")));
    }
    assert!(all.is_empty(), "{name}\n{}", all.join("\n"));
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { program(concat!(stringify!($name), ".py")) })*

        /// Every file of the folder is run.
        #[test]
        fn no_program_is_forgotten() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/concurrency");
            for entry in std::fs::read_dir(folder).expect("the folder") {
                let name = entry.expect("an entry").file_name().into_string().expect("a name");
                assert!([$(concat!(stringify!($name), ".py")),*].contains(&name.as_str()), "{name} has no test");
            }
        }
    };
}

programs! { await_in_cells coroutines executors loops multiprocessing_parts synchronisation waits }

#[track_caller]
fn gives(session: &mut Session, code: &str, result: &str) {
    let outcome = exec(session, code);
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    assert_eq!(outcome.result.expect("a result")["text/plain"], result);
}

const BACKGROUND: &str = "
import asyncio
done = []
async def work():
    await asyncio.sleep(0.001)
    done.append(len(done))
task = asyncio.create_task(work())
await asyncio.sleep(0)
";

#[test]
fn tasks_are_part_of_a_sessions_state() {
    let mut session = session();
    assert_eq!(exec(&mut session, BACKGROUND).status, Status::Ok);
    let kept = session.checkpoint().expect("a checkpoint");
    let mut other = session.fork().expect("a fork");
    gives(&mut session, "await task\ndone", "[0]");
    gives(&mut other, "done.append('fork')\nawait task\ndone", "['fork', 1]");
    session.restore(&kept).expect("restored");
    gives(&mut session, "done, task.done()", "([], False)");
    gives(&mut session, "await task\ndone", "[0]");
}

#[test]
fn a_stop_undoes_what_the_loop_began() {
    let mut session =
        python().session(SessionOptions::new(Limits::default().wall(Duration::from_secs(1)))).expect("a session");
    assert_eq!(exec(&mut session, BACKGROUND).status, Status::Ok);
    assert_eq!(exec(&mut session, "done.append('lost')\nawait asyncio.sleep(3600)").status, Status::Timeout);
    gives(&mut session, "await task\ndone", "[0]");
    assert_eq!(exec(&mut session, "asyncio.run(asyncio.sleep(3600))").status, Status::Timeout);
    assert_eq!(exec(&mut session, "import threading\nthreading.Event().wait(3600)").status, Status::Timeout);
    gives(&mut session, "asyncio.run(asyncio.sleep(0, 'goes on'))", "'goes on'");
}

#[test]
fn in_virtual_time_waits_are_over_at_once() {
    let mut session = python().session(options().deterministic(1)).expect("a session");
    let code = "
import asyncio, queue, threading, time
async def main():
    start = asyncio.get_running_loop().time()
    await asyncio.gather(asyncio.sleep(86400), asyncio.sleep(3600))
    return round(asyncio.get_running_loop().time() - start)
print(asyncio.run(main()))
start = time.monotonic()
print(threading.Event().wait(7200), round(time.monotonic() - start))
";
    assert_eq!(exec(&mut session, code).stdout, "86400\nFalse 7200\n");
}
