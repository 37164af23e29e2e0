//! Model files that lie, each opened by the built program: it ends soon, with one error that says what is wrong, without
//! much memory and without a word about other places of the machine.

/// GGUF files.
mod gguf;
/// Folders with ONNX graphs.
mod onnx;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tool::{Done, ready, tool, wait};

/// What a hang reaches, and nothing else on a busy machine.
const SOON: Duration = Duration::from_secs(60);
/// The most memory beyond that of an ordinary run.
const MEMORY: u64 = 400 << 20;

/// A file or folder to be opened as a model.
struct Lie {
    name: &'static str,
    /// Makes it in an empty folder, and says which path to name.
    make: Box<dyn Fn(&Path) -> PathBuf>,
    /// What the error must say.
    says: &'static str,
}

/// What came of one run.
struct Ran {
    done: Done,
    took: Duration,
    /// The most bytes that were resident; `None` where the system does not tell.
    peak: Option<u64>,
}

/// Opens each of `lies`, and prints a line for each.
#[expect(clippy::print_stdout, reason = "the table is what a person reads of the test")]
fn all_are_refused(lies: Vec<Lie>) {
    let ordinary = ordinary().peak;
    println!("{:>6} {:>5}  lie: error (an ordinary run has {:?} MB)", "ms", "MB", ordinary.map(|bytes| bytes >> 20));
    let mut findings = Vec::new();
    for lie in lies {
        let folder = tempfile::tempdir().unwrap();
        let model = (lie.make)(folder.path());
        let ran = open(&model);
        let text = error(&ran.done);
        let peak = ran.peak.map_or_else(|| "?".into(), |bytes| (bytes >> 20).to_string());
        println!("{:>6} {peak:>5}  {}: {}", ran.took.as_millis(), lie.name, text.as_deref().unwrap_or("none"));
        let mut find = |what: String| findings.push(format!("{}: {what}", lie.name));
        match text {
            _ if !matches!(ran.done.code, Some(2 | 69)) => find(format!("it exits with {:?}", ran.done.code)),
            None => find(format!("no error document: {:?}", ran.done.stdout)),
            Some(text) if !text.contains(lie.says) => find(format!("`{text}` does not say `{}`", lie.says)),
            Some(text) => {
                strangers(&text, folder.path(), lie.says).for_each(|path| find(format!("it tells of {path}")))
            }
        }
        for word in ["panicked", "RUST_BACKTRACE", "terminate called", "_src/"] {
            if ran.done.stderr.contains(word) || ran.done.stdout.contains(word) {
                find(format!("`{word}` in {:?} {:?}", ran.done.stdout, ran.done.stderr));
            }
        }
        if ran.peak.zip(ordinary).is_some_and(|(peak, ordinary)| peak > ordinary + MEMORY) {
            find(format!("it held {peak} MB"));
        }
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

/// A model that is a list of replies.
fn ordinary() -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("replies.jsonl");
    std::fs::write(&script, r#"{"reply": "```python\nprint(42)\n```"}"#).unwrap();
    let ran = open(Path::new(&format!("scripted:{}", script.display())));
    assert_eq!(ran.done.code, Some(0), "{:?} {:?}", ran.done.stdout, ran.done.stderr);
    ran
}

fn open(model: &Path) -> Ran {
    ready();
    let arguments = ["run", "x", "--json", "--offline", "--model", model.to_str().unwrap()];
    let begun = Instant::now();
    let child = tool(&arguments).spawn().unwrap();
    let (id, is_over) = (child.id(), AtomicBool::new(false));
    let (done, peak) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = None;
            while !is_over.load(Ordering::Relaxed) {
                // What has ended holds nothing any more.
                peak = held_at_most(id).or(peak);
                std::thread::sleep(Duration::from_millis(1));
            }
            peak
        });
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wait(child, SOON)));
        is_over.store(true, Ordering::Relaxed);
        (done, watch.join().unwrap())
    });
    let done = done.unwrap_or_else(|_| panic!("{} hangs", model.display()));
    Ran { done, took: begun.elapsed(), peak }
}

/// The most bytes of memory that a process has held so far.
fn held_at_most(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// The error in the one document on stdout: of what ended before anything was asked, or of a model that never answered.
fn error(done: &Done) -> Option<String> {
    let document: Value = serde_json::from_str(&done.stdout).ok()?;
    let is_refused = document.get("stop_reason").is_none_or(|reason| reason == "model_error");
    document.get("error").filter(|_| is_refused)?.as_str().map(str::to_owned)
}

/// Paths in `text` that are neither below `folder` nor the lie's own words.
fn strangers<'a>(text: &'a str, folder: &'a Path, own: &'a str) -> impl Iterator<Item = &'a str> {
    let words = text.split(|c: char| c.is_whitespace() || "`'\"()[]:,;".contains(c));
    words.filter(move |word| word.starts_with('/') && !Path::new(word).starts_with(folder) && !own.contains(word))
}

/// A file of `len` bytes with `pieces` where they say, and holes between them.
fn write_sparse(path: &Path, pieces: &[(u64, Vec<u8>)], len: u64) {
    let mut file = File::create(path).unwrap();
    for (at, bytes) in pieces {
        file.seek(SeekFrom::Start(*at)).unwrap();
        file.write_all(bytes).unwrap();
    }
    file.set_len(len).unwrap();
}

#[test]
fn gguf_files_that_lie_are_refused() {
    all_are_refused(gguf::lies());
}

#[test]
fn folders_that_lie_are_refused() {
    all_are_refused(onnx::lies());
}

#[test]
fn a_path_that_is_not_the_models_is_a_stranger() {
    let text = "cannot use `/tmp/x/model.gguf`: see /root/.cache/a, (/home/b) and /tmp/xy or `/etc/passwd`";
    let found: Vec<&str> = strangers(text, Path::new("/tmp/x"), "the weights `/etc/passwd`").collect();
    assert_eq!(found, ["/root/.cache/a", "/home/b", "/tmp/xy"]);
}
