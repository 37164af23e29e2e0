//! Many sessions alive at once, and as many fresh executions a second as a core gives. Prints a table.
//!
//! `cargo bench --bench sessions [-- SESSIONS SECONDS]`, by default 1,000 sessions and 20 seconds. The image must be
//! there (`cargo run --release -- setup`). Memory, descriptors and mappings are told where `/proc` tells them (Linux).

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use std::fmt::Display;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use slm_code_interpreter::sandbox::on_python_thread;
use slm_code_interpreter::{
    Cancel, Config, Limits, Outcome, Overrides, Progress, Python, Session, SessionOptions, Status,
};

const FIRST: &str = "import pandas as pd\ndf = pd.DataFrame({'a': range(100), 'b': range(100)})";
const NEXT: &str = "df.a.sum()";
const FRESH: &str = "print(1)";

fn main() {
    // `cargo bench` itself adds a flag.
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let sessions = numbers.next().unwrap_or(1000);
    let time = Duration::from_secs(numbers.next().unwrap_or(20));
    let config = Config::resolve(Overrides::default()).expect("the settings");
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    alive(&python, usize::try_from(sessions).expect("a number of sessions"));
    let native = native();
    for threads in [1, 2] {
        sustained(&python, threads, time, native);
    }
}

/// (a) `count` sessions with a data frame each, then one more cell in each.
fn alive(python: &Python, count: usize) {
    println!("{count} sessions alive at once");
    // What the first session of a process pays alone is not a session's price.
    drop(first(python));
    let before = Footprint::now();
    let start = Instant::now();
    let mut sessions: Vec<Session> = on_worker(|| (0..count).map(|_| first(python)).collect());
    let made = start.elapsed();
    let after = Footprint::now();
    let processor = after.processor - before.processor;
    let mut cells: Vec<Duration> = on_worker(|| sessions.iter_mut().map(next).collect());
    cells.sort_unstable();
    row("created, a session", millis(made / u32::try_from(count).unwrap_or(u32::MAX)));
    row("created, processor time", millis(processor / u32::try_from(count).unwrap_or(u32::MAX)));
    row("next cell, median", millis(cells[count / 2]));
    row("next cell, 99th of 100", millis(cells[count * 99 / 100]));
    let later = Footprint::now();
    for (what, of) in [("before", &before), ("with all of them", &after), ("after the next cell in each", &later)] {
        row(&format!("resident memory {what}"), mib(of.resident));
        row("  without the pages that all share", mib(of.own));
    }
    // Both are far below 2^52, where an f64 is still exact.
    #[expect(clippy::cast_precision_loss, reason = "counts and bytes below 2^52")]
    let each = |of: u64| of as f64 / count as f64;
    row(
        "own memory, a session",
        format_args!("{:.2} MiB", each(later.own.saturating_sub(before.own)) / f64::from(1 << 20)),
    );
    row("descriptors, a session", format_args!("{:.2}", each(later.descriptors.saturating_sub(before.descriptors))));
    row("mappings, a session", format_args!("{:.2}", each(later.mappings.saturating_sub(before.mappings))));
    let start = Instant::now();
    drop(sessions);
    row("ended, a session", millis(start.elapsed() / u32::try_from(count).unwrap_or(u32::MAX)));
    row("resident memory when they are gone", mib(Footprint::now().resident));
}

/// (b) Fresh interpreters on `threads` threads, for `time`.
fn sustained(python: &Python, threads: usize, time: Duration, native: Duration) {
    println!("fresh {FRESH} on {threads} threads for {} s", time.as_secs());
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (start, before) = (Instant::now(), Footprint::now().processor);
    let (done, stop) = (&done, &stop);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                on_worker(|| {
                    while !stop.load(Ordering::Relaxed) {
                        ok(session(python).exec(FRESH, &Cancel::new()));
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            });
        }
        // The first fifth is the warm-up of allocator and page tables, not a leak.
        for (when, part) in [("after a fifth", time / 5), ("in the middle", time * 3 / 10), ("at the end", time / 2)] {
            thread::sleep(part);
            row(&format!("resident memory {when}"), mib(Footprint::now().resident));
        }
        stop.store(true, Ordering::Relaxed);
    });
    #[expect(clippy::cast_precision_loss, reason = "a count below 2^52")]
    let executions = done.load(Ordering::Relaxed) as f64;
    let (rate, processor) = (executions / start.elapsed().as_secs_f64(), Footprint::now().processor - before);
    row("executions a second", format_args!("{rate:.0}"));
    row("processor time, an execution", format_args!("{:.3} ms", processor.as_secs_f64() * 1e3 / executions));
    row("times as many as python3 -c on one thread", format_args!("{:.1}", rate * native.as_secs_f64()));
}

/// (c) A whole `python3` process, as a median: what the same program costs without us.
fn native() -> Duration {
    let mut times: Vec<Duration> = (0..51)
        .map(|_| {
            let start = Instant::now();
            let status = Command::new("python3").args(["-c", FRESH]).stdout(Stdio::null()).status();
            assert!(status.is_ok_and(|status| status.success()), "python3 -c '{FRESH}'");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("python3 -c '{FRESH}'");
    row("median", millis(times[times.len() / 2]));
    times[times.len() / 2]
}

fn session(python: &Python) -> Session {
    python.session(SessionOptions::new(Limits::default())).expect("a session")
}

fn first(python: &Python) -> Session {
    let mut session = session(python);
    ok(session.exec(FIRST, &Cancel::new()));
    session
}

fn next(session: &mut Session) -> Duration {
    let start = Instant::now();
    let outcome = ok(session.exec(NEXT, &Cancel::new()));
    let took = start.elapsed();
    let shown = outcome.result.expect("a result");
    assert!(shown["text/plain"].contains("4950"), "{shown:?}");
    took
}

fn ok(outcome: slm_code_interpreter::Result<Outcome>) -> Outcome {
    let outcome = outcome.expect("the sandbox runs");
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    outcome
}

fn on_worker<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    on_python_thread(work).expect("a thread for Python")
}

/// What this process takes of the machine; zeros where there is no `/proc`.
struct Footprint {
    /// `VmRSS`: counts a page of the image once for each session that has looked at it.
    resident: u64,
    /// `RssAnon`: what was written, and so is nobody else's.
    own: u64,
    descriptors: u64,
    mappings: u64,
    /// User's and system's, to a hundredth of a second: what a busy machine disturbs least.
    processor: Duration,
}

impl Footprint {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |field: &str| {
            let kib = status.lines().find_map(|line| line.strip_prefix(field)?.trim().strip_suffix(" kB"));
            kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() * 1024
        };
        // The fields after the name of the program, which may hold anything; ticks are 10 ms on every Linux.
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self {
            resident: bytes("VmRSS:"),
            own: bytes("RssAnon:"),
            descriptors: fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
            mappings: maps.lines().count() as u64,
            processor: Duration::from_millis(ticks * 10),
        }
    }
}

fn row(what: &str, value: impl Display) {
    println!("  {what:<44}{value:>14}");
}

fn millis(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
