//! Programs as people and models write them: each prints what stands beside it.
//!
//! `tests/snippets/NAME.py` is one cell of a fresh session, `NAME.out` its standard output. What CPython's own library
//! alone is needed for was compared with an ordinary CPython 3.13.

use std::path::{Path, PathBuf};
use std::time::Duration;

use slm_code_interpreter::{Cancel, Limits, SessionOptions, Status};

use crate::python::session;

/// What does not work yet. One that starts to work has to leave the list.
const KNOWN: [&str; 0] = [];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snippets")
}

/// The names of the files in the folder that end so.
fn names(extension: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("tests/snippets").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Runs one snippet and says what is wrong with what came of it.
fn complaint(name: &str) -> Option<String> {
    let read = |extension| std::fs::read_to_string(folder().join(name).with_extension(extension)).expect("a snippet");
    let options = SessionOptions::new(Limits::default().wall(Duration::from_secs(120)));
    let mut session = session(options);
    let outcome = session.exec(&read("py"), &Cancel::new()).expect("an outcome");
    if outcome.status != Status::Ok {
        return Some(format!("{name}: {:?} {:?}", outcome.status, outcome.error));
    }
    let expected = read("out");
    let (got, wanted) = (outcome.stdout.lines(), expected.lines());
    let different = got.zip(wanted).find(|(got, wanted)| got != wanted);
    match different {
        Some((got, wanted)) => Some(format!("{name}: `{got}` instead of `{wanted}`")),
        None => (outcome.stdout != expected).then(|| format!("{name}: lines more or fewer\n{}", outcome.stdout)),
    }
}

#[test]
fn every_snippet_prints_what_it_should() {
    let all = names("py");
    assert!(all.len() >= 60, "only {} snippets", all.len());
    assert_eq!(all, names("out"), "each snippet has its output beside it");
    assert!(KNOWN.iter().all(|name| all.iter().any(|one| one == name)), "a known failure that is not there");
    let complaints: Vec<(&str, Option<String>)> = std::thread::scope(|scope| {
        let run = |part: &'_ [String]| part.iter().map(|name| complaint(name)).collect::<Vec<_>>();
        let halves: Vec<_> = all.chunks(all.len().div_ceil(2)).map(|part| scope.spawn(move || run(part))).collect();
        let done = halves.into_iter().flat_map(|half| half.join().expect("a half of them"));
        all.iter().map(String::as_str).zip(done).collect()
    });
    let (mut wrong, mut mended) = (Vec::new(), Vec::new());
    for (name, complaint) in complaints {
        match complaint {
            Some(text) if !KNOWN.contains(&name) => wrong.push(text),
            None if KNOWN.contains(&name) => mended.push(name),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(mended.is_empty(), "these work now, take them off the list: {mended:?}");
}
