//! Many short sessions of every kind of end in one process, which must be as it was after each.

use std::time::Duration;

use slm_code_interpreter::{Cancel, Limits, SessionOptions};

use super::measure;
use super::runner::python;

const RUNS: usize = 200;
/// After so many everything that a process keeps is there.
const EARLY: usize = 50;
const MARK: &str = "\u{1e}look ";

/// A cell of each kind, and how it must end.
const CELLS: [(&str, &str); 14] = [
    ("print(1 + 1)", "ok"),
    ("1 / 0", "error"),
    ("raise SystemExit(3)", "exited"),
    ("import os; os._exit(4)", "exited"),
    ("import os; os.abort()", "crashed"),
    ("while True: pass", "timeout"),
    ("import time; time.sleep(60)", "timeout"),
    ("open('/work/f', 'wb').write(bytes(5 << 20)); open('/tmp/g', 'w').write('x')", "ok"),
    ("x = bytearray(150 << 20); x[::4096] = b'x' * len(x[::4096])", "ok"),
    ("kept = [0] * 10 ** 9", "error"),
    ("import pandas as pd; pd.DataFrame({'a': range(1000)}).describe()", "ok"),
    ("for i in range(300): display('x' * 10_000)", "error"),
    ("for _ in range(50): print('y' * 100_000)", "ok"),
    (
        "import os\nfor i in range(60): os.open(f'/work/{i}', os.O_CREAT)\nx = [open(f'/work/{i}', 'w') for i in range(3)]",
        "ok | error",
    ),
];

/// What the process held at one moment.
#[derive(Debug, PartialEq)]
pub struct Look {
    pub resident: Option<u64>,
    pub descriptors: Option<usize>,
    pub scratch: usize,
}

impl Look {
    fn now() -> Self {
        Self {
            resident: measure::resident(),
            descriptors: measure::descriptors(),
            scratch: measure::entries(&std::env::temp_dir()),
        }
    }

    #[expect(clippy::print_stdout, reason = "it goes to the test that started this process")]
    fn print(&self) {
        println!("\n{MARK}{}", serde_json::json!([self.resident, self.descriptors, self.scratch]));
    }

    /// The two looks in what the child printed.
    #[track_caller]
    pub fn both_in(printed: &str) -> (Self, Self) {
        let looks = printed.lines().filter_map(|line| line.strip_prefix(MARK));
        let mut looks = looks.map(|look| {
            let look: serde_json::Value = serde_json::from_str(look).expect("a look");
            Self {
                resident: look[0].as_u64(),
                descriptors: look[1].as_u64().map(|count| count as usize),
                scratch: look[2].as_u64().expect("a count") as usize,
            }
        });
        (looks.next().expect("an early look"), looks.next().expect("a late look"))
    }
}

/// Runs them all, and prints a look early and one at the end.
pub fn run() {
    let python = python();
    let limits = Limits::default().wall(Duration::from_millis(500)).memory(512 << 20);
    for number in 0..RUNS {
        if number == EARLY {
            Look::now().print();
        }
        let mut session = python.session(SessionOptions::new(limits.clone())).expect("a session");
        for step in 0..1 + number % 3 {
            let (code, expected) = CELLS[(number * 5 + step * 3) % CELLS.len()];
            let outcome = session.exec(code, &Cancel::new()).expect("an outcome");
            // On a busy machine any of them may be out of time.
            let status = outcome.status.as_str();
            let fits = expected.split(" | ").any(|word| word == status) || status == "timeout";
            assert!(fits, "{code}: {status} {:?}", outcome.error);
        }
        if number % 4 == 0 {
            session.finish(&Cancel::new()).expect("an end");
        }
    }
    Look::now().print();
}
