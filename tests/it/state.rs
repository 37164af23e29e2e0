//! State as a value: undo, checkpoints, forks and saved sessions, variables and files alike.

use std::time::Duration;

use slm_code_interpreter::{
    Cancel, Capacity, Config, Limits, OnError, Overrides, Progress, Python, Session, SessionOptions, Status,
};

use crate::python::{exec, options, prints, python};

fn session() -> Session {
    crate::python::session(options())
}

/// Shows the variable `x` and the files of a session.
const LOOK: &str = "import os\nprint(globals().get('x'), {n: open(n).read() for n in sorted(os.listdir('/work'))}, sorted(os.listdir('/tmp')))";

const FIRST: &str = "x = [1]\nopen('a', 'w').write('one')\nopen('/tmp/t', 'w').close()\nNone";
const SECOND: &str = "x.append(2)\ny = 1\nopen('a', 'w').write('two')\nopen('b', 'w').close()\nos.remove('/tmp/t')";

const AFTER_FIRST: &str = "[1] {'a': 'one'} ['t']\n";
const AFTER_SECOND: &str = "[1, 2] {'a': 'two', 'b': ''} []\n";

/// A session after `FIRST`.
fn first() -> Session {
    let mut session = session();
    prints(&mut session, FIRST);
    assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
    session
}

#[test]
fn a_rewind_undoes_the_last_cell_and_only_that() {
    let mut session = first();
    prints(&mut session, SECOND);
    assert_eq!(session.rewind().ok(), Some(true));
    assert_eq!(session.rewind().ok(), Some(false), "one cell can be undone");
    assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
    assert_eq!(prints(&mut session, "print('y' in globals())"), "False\n");
    // The first cell of all.
    let mut session = self::session();
    assert_eq!(session.rewind().ok(), Some(false));
    prints(&mut session, FIRST);
    assert_eq!(session.rewind().ok(), Some(true));
    assert_eq!(prints(&mut session, LOOK), "None {} []\n");
}

#[test]
fn a_session_without_undo_says_so_and_goes_on_afresh_after_a_stop() {
    let mut session = python().session(options().undo(false)).expect("a session");
    prints(&mut session, FIRST);
    assert!(session.rewind().expect_err("no undo").is_usage());
    let outcome = exec(&mut session, "open('c', 'w').close()\nimport os\nos._exit(3)");
    assert_eq!((outcome.status, outcome.exit_code), (Status::Exited, Some(3)));
    assert!(outcome.note.is_some_and(|note| note.contains("fresh interpreter")));
    assert_eq!(prints(&mut session, LOOK), "None {'a': 'one'} ['t']\n");
}

#[test]
fn after_every_kind_of_stop_the_session_goes_on_from_before_the_cell() {
    let limits = Limits::default().wall(Duration::from_millis(700)).memory(256 << 20);
    for (code, status) in [
        ("while True: pass", Status::Timeout),
        ("import time; time.sleep(60)", Status::Timeout),
        ("import os; os._exit(4)", Status::Exited),
        ("import os; os._exit(0)", Status::Ok),
        ("import os; os.abort()", Status::Crashed),
    ] {
        let mut session = python().session(SessionOptions::new(limits.clone())).expect("a session");
        prints(&mut session, FIRST);
        let outcome =
            exec(&mut session, &format!("print('before')\n{SECOND}\n{code}").replace("os.", "__import__('os')."));
        assert_eq!((outcome.status, outcome.stdout.as_str()), (status, "before\n"), "{code}: {:?}", outcome.error);
        let note = outcome.note.unwrap_or_default();
        assert!(note.contains("undone"), "{code}: {note:?}");
        assert!(outcome.files.is_empty(), "{code}: what is undone has changed nothing: {:?}", outcome.files);
        assert_eq!(prints(&mut session, LOOK), AFTER_FIRST, "{code}");
        assert_eq!(session.rewind().ok(), Some(true), "{code}: the look is a cell too");
    }
    let mut session = python()
        .session(SessionOptions::new(limits.wall(Duration::from_secs(60)).fuel(300_000_000)))
        .expect("a session");
    prints(&mut session, FIRST);
    assert_eq!(exec(&mut session, "del x\nwhile True: pass").status, Status::Fuel);
    assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(session.exec("del x\nwhile True: pass", &cancel).expect("an outcome").status, Status::Cancelled);
    assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
}

#[test]
fn an_error_keeps_what_the_cell_did_unless_asked() {
    let failing = format!("import os\n{SECOND}\n1 / 0");
    for (on_error, expected) in [(OnError::Keep, AFTER_SECOND), (OnError::Rewind, AFTER_FIRST)] {
        for end in ["1 / 0", "raise SystemExit(3)"] {
            let mut session = python().session(options().on_error(on_error)).expect("a session");
            prints(&mut session, FIRST);
            let outcome = exec(&mut session, &failing.replace("1 / 0", end));
            assert_ne!(outcome.status, Status::Ok);
            assert_eq!(outcome.note.is_some(), on_error == OnError::Rewind);
            assert_eq!(outcome.files.is_empty(), on_error == OnError::Rewind);
            assert_eq!(prints(&mut session, LOOK), expected, "{on_error:?} {end}");
        }
    }
}

#[test]
fn hooks_that_spoil_a_session_go_with_a_rewind() {
    let mut session = first();
    let hook = "import sys\ndef hook(event, args):\n    if event == 'compile': raise RuntimeError('hooked')\nsys.addaudithook(hook)";
    exec(&mut session, hook);
    assert_ne!(exec(&mut session, "print(1)").stdout, "1\n", "the hook is there");
    let mut session = first();
    exec(&mut session, hook);
    assert_eq!(session.rewind().ok(), Some(true));
    assert_eq!(prints(&mut session, "print(1)"), "1\n");
}

#[test]
fn a_checkpoint_can_be_gone_back_to_any_number_of_times_and_by_others() {
    let mut session = first();
    let checkpoint = session.checkpoint().expect("a checkpoint");
    for _ in 0..2 {
        prints(&mut session, SECOND);
        assert_eq!(prints(&mut session, LOOK), AFTER_SECOND);
        session.restore(&checkpoint).expect("restored");
        assert_eq!(session.rewind().ok(), Some(false), "there is no cell to undo");
        assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
    }
    drop(session);
    let mut other = self::session();
    other.restore(&checkpoint).expect("restored");
    assert_eq!(prints(&mut other, LOOK), AFTER_FIRST);
    let small = Limits::default().memory(128 << 20);
    let mut small = python().session(SessionOptions::new(small)).expect("a session");
    let mut large = self::session();
    prints(&mut large, "x = bytearray(200 << 20)");
    assert!(small.restore(&large.checkpoint().expect("a checkpoint")).expect_err("too large").is_usage());
    assert_eq!(prints(&mut small, "print(1)"), "1\n");
}

#[test]
fn forks_do_not_see_each_other() {
    let mut session = first();
    let mut forks: Vec<_> = (0..3).map(|_| session.fork().expect("a fork")).collect();
    for (number, fork) in forks.iter_mut().enumerate() {
        prints(fork, &format!("x.append({number})\nopen('f{number}', 'w').write('{number}')"));
    }
    prints(&mut session, "x.append('parent')\nopen('a', 'w').write('parent')");
    for (number, fork) in forks.iter_mut().enumerate() {
        let expected = format!("[1, {number}] {{'a': 'one', 'f{number}': '{number}'}} ['t']\n");
        assert_eq!(prints(fork, LOOK), expected);
    }
    assert_eq!(prints(&mut session, LOOK), "[1, 'parent'] {'a': 'parent'} ['t']\n");
    // A fork of a fork, whose parent is gone.
    let mut inner = forks.remove(0).fork().expect("a fork");
    drop(forks);
    assert_eq!(prints(&mut inner, LOOK), "[1, 0] {'a': 'one', 'f0': '0'} ['t']\n");
}

#[test]
fn arguments_and_bindings_go_along() {
    let mut session = python().session(options().args(["--x", "1"])).expect("a session");
    session.bind_text("user_input", "given").expect("bound");
    prints(&mut session, "import sys\nz = 1");
    let checkpoint = session.checkpoint().expect("a checkpoint");
    let look = "print(sys.argv, user_input, z)";
    assert_eq!(prints(&mut session.fork().expect("a fork"), look), "['cell', '--x', '1'] given 1\n");
    session.bind_text("user_input", "other").expect("bound");
    assert_eq!(prints(&mut session, look), "['cell', '--x', '1'] other 1\n");
    session.restore(&checkpoint).expect("restored");
    assert_eq!(prints(&mut session, look), "['cell', '--x', '1'] given 1\n");
    // Bound while no interpreter is live.
    session.restore(&checkpoint).expect("restored");
    session.bind_text("user_input", "third").expect("bound");
    assert_eq!(prints(&mut session, look), "['cell', '--x', '1'] third 1\n");
}

/// A file that is open goes along: its offset, and what it holds even if it has no name any more.
#[test]
fn open_files_are_part_of_the_state() {
    let mut session = session();
    prints(
        &mut session,
        "import os\nf = open('a', 'w+')\nf.write('hello'); f.flush()\ng = open('gone', 'w+')\ng.write('nameless'); g.flush()\nos.remove('gone')\nz = open(next(p for p in __import__('sys').path if p.endswith('.zip')), 'rb'); head = z.read(4)",
    );
    let checkpoint = session.checkpoint().expect("a checkpoint");
    let go_on =
        "f.write(' there'); f.flush(); f.seek(0); g.seek(0); z.seek(0)\nprint(f.read(), g.read(), z.read(4) == head)";
    assert_eq!(prints(&mut session, go_on), "hello there nameless True\n");
    session.restore(&checkpoint).expect("restored");
    assert_eq!(prints(&mut session, go_on), "hello there nameless True\n");
    let mut fork = session.fork().expect("a fork");
    prints(&mut fork, "f.close(); g.close(); os.remove('a')");
    assert_eq!(prints(&mut session, "f.seek(0); g.seek(0); print(f.read(), g.read())"), "hello there nameless\n");
}

#[test]
fn a_saved_session_goes_on_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session");
    let mut session = python().session(options().args(["given"])).expect("a session");
    session.bind_text("user_input", "bound").expect("bound");
    prints(&mut session, FIRST);
    prints(
        &mut session,
        "import sys, os, pandas as pd\ndf = pd.DataFrame({'a': range(1000)})\nf = open('a', 'r+'); f.seek(1)\nopen('odd \\n ü', 'w').write('ü')\nos.makedirs('deep/er')\ng = open('gone', 'w+'); g.write('nameless'); g.flush(); os.remove('gone')\nz = open(next(p for p in sys.path if p.endswith('.zip')), 'rb'); z.seek(2)",
    );
    session.save(&path).expect("saved");
    let look = "print(x, df.a.sum(), f.read(), sorted(os.listdir('.')), open('odd \\n ü').read(), os.listdir('deep'), sys.argv, user_input, (g.seek(0), g.read()), z.tell(), len(z.read(2)))";
    let there = prints(&mut session, look);
    let mut loaded = Session::load(python(), &path, options()).expect("loaded");
    assert_eq!(prints(&mut loaded, look), there);
    assert_eq!(
        there,
        "[1] 499500 ne ['a', 'deep', 'odd \\n ü'] ü ['er'] ['cell', 'given'] bound (0, 'nameless') 2 2\n"
    );
    // What a fresh interpreter of it is given.
    loaded.restart();
    assert_eq!(
        prints(&mut loaded, "import sys\nprint(sys.argv, user_input, 'x' in globals())"),
        "['cell', 'given'] bound False\n"
    );
    // Nothing of the file is half written over.
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_session_in_which_nothing_ran_can_be_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session");
    let data = folder.path().join("data.csv");
    std::fs::write(&data, "a\n1\n").expect("written");
    let mut session = session();
    session.put_file(&data).expect("put");
    session.save(&path).expect("saved");
    let mut loaded = Session::load(python(), &path, options()).expect("loaded");
    assert_eq!(prints(&mut loaded, LOOK), "None {'data.csv': 'a\\n1\\n'} []\n");
}

#[test]
fn what_is_no_session_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session");
    let refused = |path: &std::path::Path, options: SessionOptions| {
        let error = Session::load(python(), path, options).expect_err("refused");
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    assert!(refused(&folder.path().join("none"), options()).contains("none"));
    assert!(refused(folder.path(), options()).contains("not a"));
    std::fs::write(&path, "print(1)").expect("written");
    assert!(refused(&path, options()).contains("not a saved session"));
    let mut session = session();
    prints(&mut session, "x = bytearray(200 << 20)\nopen('a', 'wb').write(bytes(5 << 20))");
    session.save(&path).expect("saved");
    let mut bytes = std::fs::read(&path).expect("the file");
    assert!(bytes.len() < 8 << 20, "{} bytes", bytes.len());
    assert!(refused(&path, SessionOptions::new(Limits::default().memory(128 << 20))).contains("memory"));
    assert!(refused(&path, SessionOptions::new(Limits::default().scratch(1 << 20))).contains("files"));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    assert!(refused(&path, options()).contains("damaged"));
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    assert!(refused(&path, options()).contains("another Python image"));
}

#[test]
fn a_cell_that_is_cancelled_before_it_begins_leaves_the_session_as_it_was() {
    for undo in [true, false] {
        let mut session = python().session(options().undo(undo)).expect("a session");
        prints(&mut session, FIRST);
        let cancel = Cancel::new();
        cancel.cancel();
        let outcome = session.exec("x = 0", &cancel).expect("an outcome");
        assert_eq!((outcome.status, outcome.files.len()), (Status::Cancelled, 0));
        assert_eq!(prints(&mut session, LOOK), AFTER_FIRST, "undo {undo}");
    }
}

#[test]
fn a_text_that_cannot_be_bound_costs_nothing_else() {
    let mut session = first();
    let text = "a long text ".repeat(4 << 20);
    let small = Limits::default().memory(128 << 20).wall(Duration::from_secs(60));
    let mut small = python().session(SessionOptions::new(small)).expect("a session");
    prints(&mut small, FIRST);
    small.bind_text("user_input", &text).expect("a name");
    let error = small.exec("1", &Cancel::new()).expect_err("it does not fit");
    assert!(error.is_usage() && error.to_string().contains("do not fit"), "{error}");
    assert_eq!(prints(&mut small, LOOK), AFTER_FIRST);
    // A cell that stands in for the driver spoils its own session, and no more than a cell's limits of it.
    prints(&mut session, "import sys\nsys.modules['_slm_cell'].bind = lambda text: 1 / 0");
    session.bind_text("user_input", "text").expect("a name");
    let error = session.exec("1", &Cancel::new()).expect_err("it is not taken");
    assert!(error.is_usage(), "{error}");
    assert_eq!(prints(&mut session, LOOK), AFTER_FIRST);
    session.restart();
    session.bind_text("user_input", "text").expect("a name");
    assert_eq!(prints(&mut session, "print(user_input)"), "text\n");
}

#[test]
fn what_the_driver_is_told_is_part_of_a_cells_limits() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session");
    let mut session = session();
    prints(&mut session, "import sys, time\nsys.modules['_slm_cell'].bound = lambda text: time.sleep(600)");
    session.save(&path).expect("saved");
    let limits = Limits::default().wall(Duration::from_millis(500)).display(1 << 20);
    let mut loaded = Session::load(python(), &path, SessionOptions::new(limits)).expect("loaded");
    let began = std::time::Instant::now();
    let ended = loaded.exec("1", &Cancel::new());
    assert!(ended.is_err() || ended.is_ok_and(|outcome| outcome.status == Status::Timeout));
    assert!(began.elapsed() < Duration::from_secs(60), "it slept on");
}

#[test]
fn files_of_all_sessions_and_checkpoints_share_one_bound() {
    let mut config = Config::resolve(Overrides::default()).expect("the settings");
    config.capacity = Capacity::default().memory(100 << 20);
    let python = Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image");
    let fill = "
import os
fd, kept = os.open('/work/f', os.O_CREAT | os.O_WRONLY), 0
try:
    while True: kept += os.write(fd, bytes(1 << 20))
except OSError as error: print(kept >> 20, error.errno)
";
    let mut first = python.session(options()).expect("a session");
    assert_eq!(prints(&mut first, fill), "64 51\n");
    let mut second = python.session(options()).expect("a session");
    let left: u64 = prints(&mut second, fill).split(' ').next().and_then(|text| text.parse().ok()).expect("a number");
    assert!(left < 40, "{left} MiB");
    assert!(first.checkpoint().expect_err("no room").is_busy());
    drop(first);
    let mut third = python.session(options()).expect("a session");
    let left: u64 = prints(&mut third, fill).split(' ').next().and_then(|text| text.parse().ok()).expect("a number");
    assert!(left >= 60, "{left} MiB");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let contradiction = options().undo(false).on_error(OnError::Rewind);
    assert!(python().session(contradiction).expect_err("refused").is_usage());
}

/// Opening it would wait for a writer.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_session_to_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
    python();
    let (send, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(Session::load(python(), &pipe, options()).err()));
    let error = answer.recv_timeout(Duration::from_secs(60)).expect("it waits").expect("no session");
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
