//! Folders of the host that a user gives to a session.

use std::path::Path;

use slm_code_interpreter::{Config, Error, Mount, Overrides, Session, SessionOptions};

use crate::python::{python, run};
use crate::tool;

fn write(path: impl AsRef<Path>, text: &str) {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Given as `/data` and `/srv/out`.
fn host() -> (tempfile::TempDir, SessionOptions) {
    let host = tempfile::tempdir().unwrap();
    write(host.path().join("in/table.csv"), "a,b\n1,2\n3,4\n");
    write(host.path().join("in/code/helper.py"), "answer = 42\n");
    write(host.path().join("secret"), "secret");
    std::fs::create_dir(host.path().join("out")).unwrap();
    let options = SessionOptions::default()
        .mount(Mount::read_only(host.path().join("in"), "/data").unwrap())
        .mount(Mount::writable(host.path().join("out"), "/srv/out").unwrap());
    (host, options)
}

#[test]
fn programs_use_what_they_were_given() {
    let (host, options) = host();
    let code = "
import os, pathlib, shutil, sqlite3, sys, pandas as pd
print(os.listdir('/'), os.listdir('/srv'), sorted(os.listdir('/data')))
print(pd.read_csv('/data/table.csv').sum().to_dict(), [str(path) for path in pathlib.Path('/data').rglob('*.py')])
sys.path.insert(0, '/data/code'); import helper; print(helper.answer)
shutil.copytree('/data', '/srv/out/copy'); print([os.path.getsize(path) for path in pathlib.Path('/srv/out').rglob('*.csv')])
open('/work/made', 'w').write('made'); shutil.move('/work/made', '/srv/out/made'); shutil.move('/srv/out/copy/code', '/work')
print(sorted(os.listdir('/srv/out')), os.listdir('/work/code'))
with sqlite3.connect('/srv/out/shop.db') as db:
    db.execute('create table t(a)'); db.executemany('insert into t values (?)', [(n,) for n in range(100)])
print(db.execute('select sum(a) from t').fetchone())
pd.DataFrame({'x': [1]}).to_csv('/srv/out/result.csv', index=False); os.rename('/srv/out/result.csv', '/srv/out/final.csv')
";
    let outcome = run(&mut python().session(options).unwrap(), code);
    assert_eq!(
        outcome.stdout,
        "['data', 'dev', 'srv', 'tmp', 'usr', 'work'] ['out'] ['code', 'table.csv']
{'a': 4, 'b': 6} ['/data/code/helper.py']
42
[12]
['copy', 'made'] ['helper.py']
(4950,)
"
    );
    let out = host.path().join("out");
    assert_eq!(std::fs::read_to_string(out.join("final.csv")).unwrap(), "x\n1\n");
    assert_eq!(std::fs::read_to_string(out.join("made")).unwrap(), "made");
    assert!(!out.join("copy/code").exists());
    // What is told as changed is what changed in /work.
    assert_eq!(outcome.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["code/helper.py"]);
}

#[test]
fn what_fails_says_why_and_nothing_of_the_host() {
    let (host, options) = host();
    #[cfg(unix)]
    std::os::unix::fs::symlink(host.path().join("secret"), host.path().join("in/link")).unwrap();
    let code = "
import errno, os, shutil, traceback
def tried(call, *args):
    try:
        call(*args)
    except OSError as error:
        traceback.print_exc()
        return errno.errorcode[error.errno]
    return 'ok'
print(tried(open, '/data/new', 'w'), tried(open, '/data/table.csv', 'a'), tried(os.unlink, '/data/table.csv'))
print(tried(open, '/data/link'), tried(open, '/data/../secret'), tried(open, '/srv/out/../../secret'), tried(os.listdir, '/srv/in'))
print(tried(os.rename, '/srv/out', '/work/out'), tried(os.rmdir, '/srv'), tried(os.mkdir, '/srv/new'), tried(shutil.move, '/data/table.csv', '/work'))
print(tried(os.symlink, '/data', '/srv/out/l'), tried(os.link, '/data/table.csv', '/srv/out/l'), tried(os.chdir, '/data'), os.getcwd(), open('table.csv').read(3))
print(tried(lambda: open('/srv/out/big', 'wb', buffering=0).write(bytes(70 << 20))), tried(lambda: open('/srv/out/big', 'ab', buffering=0).write(b'x')))
";
    let outcome = run(&mut python().session(options).unwrap(), code);
    assert_eq!(
        outcome.stdout,
        "EROFS EROFS EROFS
ENOENT ENOENT ENOENT ENOENT
EROFS EROFS EROFS EROFS
EPERM EPERM ok /data a,b
ok ENOSPC
"
    );
    let host_path = host.path().to_str().unwrap();
    assert!(!outcome.stderr.contains(host_path), "{}", outcome.stderr);
    assert_eq!(std::fs::metadata(host.path().join("out/big")).unwrap().len(), 64 << 20);
}

#[test]
fn states_go_back_and_the_hosts_files_do_not() {
    let (host, options) = host();
    let mut session = python().session(options.clone()).unwrap();
    run(&mut session, "log = open('/srv/out/log', 'w+'); read = open('/data/table.csv'); print(read.read(4))");
    let before = session.checkpoint().unwrap();
    run(&mut session, "log.write('one'); log.flush()");
    session.rewind().unwrap();
    assert_eq!(std::fs::read_to_string(host.path().join("out/log")).unwrap(), "one");
    let text = "print(repr(read.readline()), log.write('two')); log.flush()";
    assert_eq!(run(&mut session, text).stdout, "'1,2\\n' 3\n", "what is open goes on where it stood");
    assert_eq!(std::fs::read_to_string(host.path().join("out/log")).unwrap(), "two");
    let mut fork = session.fork().unwrap();
    assert_eq!(run(&mut fork, "print(repr(read.readline()), log.write('!')); log.flush()").stdout, "'3,4\\n' 1\n");
    assert_eq!(std::fs::read_to_string(host.path().join("out/log")).unwrap(), "two!");
    // A session that was given nothing gets nothing by the state of one that was.
    let mut other = python().session(SessionOptions::default()).unwrap();
    other.restore(&before).unwrap();
    let dead = "
import os
for use in (lambda: os.read(read.fileno(), 1), lambda: os.write(log.fileno(), b'x'), lambda: os.listdir('/data')):
    try: print(use())
    except OSError as error: print(error.strerror)
";
    assert_eq!(run(&mut other, dead).stdout, "I/O error\nI/O error\nNo such file or directory\n");
    session.restore(&before).unwrap();
    assert_eq!(run(&mut session, text).stdout, "'1,2\\n' 3\n");
}

#[test]
fn a_saved_session_goes_on_with_the_folders_it_is_given() {
    let (host, options) = host();
    let saved = host.path().join("session");
    let mut session = python().session(options.clone()).unwrap();
    run(
        &mut session,
        "import os; read = open('/data/table.csv', 'rb', buffering=0); print(read.read(4)); os.chdir('/data')",
    );
    session.save(&saved).unwrap();
    let mut same = Session::load(python(), &saved, options).unwrap();
    assert_eq!(run(&mut same, "print(read.read(4), os.listdir())").stdout, "b'1,2\\n' ['code', 'table.csv']\n");
    let mut without = Session::load(python(), &saved, SessionOptions::default()).unwrap();
    let code = "
for use in (lambda: read.read(4), lambda: open('/data/table.csv')):
    try: print(use())
    except OSError as error: print(error.strerror)
";
    assert_eq!(run(&mut without, code).stdout, "I/O error\nNo such file or directory\n");
    let again = host.path().join("again");
    without.save(&again).unwrap();
    let (_host, options) = (host, SessionOptions::default());
    write(_host.path().join("other/table.csv"), "0123456789");
    let options = options.mount(Mount::read_only(_host.path().join("other"), "/data").unwrap());
    let mut other = Session::load(python(), &again, options).unwrap();
    let code = "
try: print(read.read(4))
except OSError as error: print(error.strerror)
print(open('/data/table.csv').read(4))
";
    assert_eq!(run(&mut other, code).stdout, "I/O error\n0123\n", "another file of that name is not what was open");
}

/// C01: whoever can write the cache makes the next start run code of theirs.
#[test]
fn c01_the_cache_is_in_no_mount() {
    let cache = Config::resolve(Overrides::default()).expect("the settings").cache_dir.canonicalize().expect("a cache");
    let (above, name) = (cache.parent().expect("a folder"), cache.file_name().expect("a name").to_str().expect("text"));
    let inside = cache.join("image");
    for refused in [&cache, &inside] {
        let options = SessionOptions::default().mount(Mount::writable(refused, "/c").unwrap());
        let error = python().session(options).expect_err("it is refused");
        assert!(error.is_usage() && error.to_string().contains("cache"), "{error}");
    }
    for mount in [Mount::read_only(above, "/c").unwrap(), Mount::writable(above, "/c").unwrap()] {
        let mut session = python().session(SessionOptions::default().mount(mount)).unwrap();
        let code = format!(
            "
import os
for use in (lambda: os.listdir('/c/{name}'), lambda: open('/c/{name}/image/x', 'w'), lambda: os.rename('/c/{name}', '/c/y')):
    try: print(use())
    except OSError as error: print(type(error).__name__)
"
        );
        let printed = run(&mut session, &code).stdout;
        assert!(printed.starts_with("PermissionError\nPermissionError\n"), "{printed}");
        assert!(printed.ends_with("Error\n") && cache.is_dir(), "{printed}");
    }
}

/// What was removed while it is open still takes room on the disk, and is free when it is closed.
#[test]
fn removed_files_count_until_they_are_closed() {
    let (_host, options) = host();
    let mut session = python().session(options).unwrap();
    let code = "
import errno, os, tempfile
for _ in range(4):
    with tempfile.TemporaryFile(dir='/srv/out') as file: file.write(bytes(30_000_000))
kept = []
try:
    for number in range(4):
        kept.append(open(f'/srv/out/{number}', 'wb', buffering=0))
        os.remove(f'/srv/out/{number}')
        kept[-1].write(bytes(30_000_000))
        os.fsync(kept[-1].fileno())
        print(os.fstat(kept[-1].fileno()).st_size)
except OSError as error: print(errno.errorcode[error.errno])
for file in kept: file.close()
with open('/srv/out/last', 'wb') as file: print(file.write(bytes(60_000_000)))
";
    let printed = run(&mut session, code).stdout;
    assert_eq!(printed.lines().last(), Some("60000000"), "{printed}");
    assert!(printed.lines().filter(|line| *line == "30000000").count() <= 2, "64 MiB hold no third: {printed}");
}

#[test]
fn mounts_that_cannot_be_together_are_refused() {
    let (host, options) = host();
    let options = options.mount(Mount::read_only(host.path(), "/srv").unwrap());
    let refused = |error: Error| assert!(error.is_usage() && error.to_string().contains("/srv"), "{error}");
    refused(python().session(options).err().unwrap());
}

#[test]
fn the_command_line_mounts_folders() {
    let (host, _) = host();
    let at = |name: &str, rest: &str| format!("{}{rest}", host.path().join(name).display());
    let code = "import shutil; print(open('/data/table.csv').read(3), shutil.copy('/data/table.csv', '/out/b.csv'))";
    let done =
        tool::run(&["exec", "--mount", &at("in", ":/data"), "--mount", &at("out", ":/out:rw"), "-c", code]).exits(0);
    assert_eq!(done.stdout, "a,b /out/b.csv\n");
    assert_eq!(std::fs::read_to_string(host.path().join("out/b.csv")).unwrap(), "a,b\n1,2\n3,4\n");
    for (mount, words) in [
        (at("none", ":/data"), "cannot mount"),
        (at("secret", ":/data"), "not a folder"),
        (at("in", ":/work/data"), "own folder"),
        (at("in", ":/data:r"), "ro or rw"),
        (at("in", ""), "DIR:/PATH"),
    ] {
        let done = tool::run(&["exec", "--mount", &mount, "-c", "print(1)"]).exits(2);
        assert!(done.stdout.is_empty() && done.stderr.contains(words), "{mount}: {}", done.stderr);
    }
}
