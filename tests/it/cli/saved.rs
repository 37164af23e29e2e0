//! Sessions that go on later: `--save`, `--load`, and what a cell that raised leaves behind.

use std::path::Path;

use crate::tool::run;

/// `exec` with these arguments; gives what it printed.
#[track_caller]
fn exec(arguments: &[&str]) -> String {
    run(&[&["exec"], arguments].concat()).exits(0).stdout
}

#[track_caller]
fn only(folder: &Path, names: &[&str]) {
    let found = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let mut found: Vec<_> = found.collect();
    found.sort();
    assert_eq!(found, names);
}

#[test]
fn a_saved_session_goes_on_in_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.slm");
    let saved = file.to_str().unwrap();
    exec(&["-c", "x = 41\nopen('f.txt', 'w').write('kept')", "--save", saved, "--", "a", "b"]);
    let first = std::fs::read(&file).unwrap();
    let code = "import sys\nx += 1\nprint(x, open('f.txt').read(), sys.argv)";
    assert_eq!(exec(&["--load", saved, "-c", code, "--save", saved]), "42 kept ['cell', 'a', 'b']\n");
    assert_ne!(std::fs::read(&file).unwrap(), first);
    let loaded = std::fs::read(&file).unwrap();
    assert_eq!(exec(&["--load", saved, "-c", "x += 1; print(x)"]), "43\n");
    assert_eq!(std::fs::read(&file).unwrap(), loaded, "loading alone changes nothing");
    assert_eq!(exec(&["--load", saved, "-c", "print(x)"]), "42\n");
    only(folder.path(), &["s.slm"]);
}

#[test]
fn exit_handlers_stay_in_the_saved_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.slm");
    let saved = file.to_str().unwrap();
    let code = "import atexit\natexit.register(lambda: print('bye'))\nprint('hi')";
    assert_eq!(exec(&["-c", code, "--save", saved]), "hi\n");
    assert_eq!(exec(&["--load", saved, "-c", "print('again')"]), "again\nbye\n");
}

#[test]
fn files_go_into_a_loaded_session_and_results_come_out() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(place("data.csv"), "1,2\n").unwrap();
    exec(&["-c", "rows = 0", "--save", &place("s.slm")]);
    let code = "rows += 1\nopen('out.txt', 'w').write(open('data.csv').read() * rows)\nNone";
    exec(&["--load", &place("s.slm"), "--file", &place("data.csv"), "--out", &place("out"), "-c", code]);
    assert_eq!(std::fs::read_to_string(place("out/out.txt")).unwrap(), "1,2\n");
}

#[test]
fn however_the_last_cell_ended_the_session_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.slm");
    let saved = file.to_str().unwrap();
    exec(&["-c", "x = 1", "--save", saved]);
    let on = ["exec", "--load", saved, "--save", saved];
    run(&[&on[..], &["-c", "x = 2\n1 / 0"]].concat()).exits(1);
    assert_eq!(exec(&["--load", saved, "-c", "print(x)"]), "2\n", "an exception keeps what the cell did");
    run(&[&on[..], &["--on-error", "rewind", "-c", "x = 3\n1 / 0"]].concat()).exits(1);
    run(&[&on[..], &["--timeout", "1", "-c", "x = 4\nwhile True: pass"]].concat()).exits(124);
    run(&[&on[..], &["-c", "import os\nx = 5\nos._exit(3)"]].concat()).exits(3);
    assert_eq!(exec(&["--load", saved, "-c", "print(x)"]), "2\n", "a cell that was undone is not in it");
    run(&[&on[..], &["-c", "x = 6\nraise SystemExit(4)", "-c", "x = 7"]].concat()).exits(4);
    assert_eq!(exec(&["--load", saved, "-c", "print(x)"]), "6\n", "the cell that ended the run was the last");
    only(folder.path(), &["s.slm"]);
}

#[test]
fn a_session_that_cannot_be_loaded_leaves_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("s.slm"), folder.path().join("damaged.slm"));
    std::fs::write(&file, "as it was").unwrap();
    std::fs::write(&other, "not a session").unwrap();
    let arguments = ["exec", "--load", other.to_str().unwrap(), "--save", file.to_str().unwrap(), "-c", "1"];
    let done = run(&arguments).exits(2);
    assert!(done.stderr.starts_with("error: ") && done.stderr.contains("damaged.slm"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it was");
    only(folder.path(), &["damaged.slm", "s.slm"]);
}

#[test]
#[cfg(unix)]
fn a_link_is_followed_and_the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("s.slm"), folder.path().join("link.slm"));
    std::fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink("s.slm", &link).unwrap();
    exec(&["-c", "x = 1", "--save", link.to_str().unwrap()]);
    assert!(link.is_symlink());
    assert_eq!(exec(&["--load", file.to_str().unwrap(), "-c", "print(x)"]), "1\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_a_cell_that_raised_did_stays_or_is_undone() {
    let failing = "x = 2\nopen('f', 'w').write('x')\n1 / 0";
    let cells = ["--keep-going", "-c", "x = 1", "-c", failing, "-c", "import os\nprint(x, os.listdir())"];
    assert_eq!(exec(&cells), "2 ['f']\n");
    assert_eq!(exec(&[&cells[..], &["--on-error", "keep"]].concat()), "2 ['f']\n");
    assert_eq!(exec(&[&cells[..], &["--on-error", "rewind"]].concat()), "1 []\n");
}

#[test]
fn a_deterministic_run_says_the_same_every_time() {
    let code = "import os, random, time, uuid\nprint(random.random(), time.time(), uuid.uuid4(), os.urandom(4).hex())";
    let document = |flag: &str| exec(&["--json", flag, "-c", code]);
    let first = document("--deterministic");
    assert_eq!(document("--deterministic"), first);
    assert_eq!(document("--deterministic=0"), first);
    let printed = |flag: &str| exec(&[flag, "-c", code]).split(' ').next().unwrap().to_owned();
    assert_ne!(printed("--deterministic=7"), printed("--deterministic"));
}
