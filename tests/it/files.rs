//! The files, the time and the random bytes that a program finds: everything in memory, exact limits, Python's own words
//! for what does not work.

use std::time::{Duration, Instant};

use slm_code_interpreter::sandbox::Change;
use slm_code_interpreter::{Limits, Session, SessionOptions, Status};

use crate::python::{exec, python, run, session as start};
use crate::tool;

fn session(limits: Limits) -> Session {
    start(SessionOptions::new(limits))
}

/// What `code` prints in a session of its own.
#[track_caller]
fn prints(limits: Limits, code: &str) -> String {
    run(&mut session(limits), code).stdout
}

/// Runs `tried(code)` for the name of the error that a piece of code raises.
const TRIED: &str = "
import errno, os
def tried(call, *args, **names):
    try:
        call(*args, **names)
    except OSError as error:
        return errno.errorcode[error.errno]
    return 'ok'
";

#[test]
fn the_library_for_files_works() {
    let code = "
import os, pathlib, shutil, tempfile, zipfile, glob, io
work = pathlib.Path('/work')
(work / 'a' / 'b').mkdir(parents=True)
(work / 'a' / 'b' / 'größe.txt').write_text('hello\\n' * 3, encoding='utf-8')
print(sorted(str(path.relative_to(work)) for path in work.rglob('*')))
shutil.copytree('/work/a', '/tmp/copy')
shutil.move('/tmp/copy', '/work/moved')
print(sorted(glob.glob('**/*.txt', recursive=True)), os.path.getsize('moved/b/größe.txt'))
shutil.make_archive('/tmp/all', 'zip', '/work')
with zipfile.ZipFile('/tmp/all.zip') as archive:
    print(sorted(name for name in archive.namelist() if name.endswith('.txt')), archive.testzip())
shutil.unpack_archive('/tmp/all.zip', '/work/again')
print((work / 'again/a/b/größe.txt').read_text(encoding='utf-8').count('hello'))
shutil.rmtree('/work/a'), shutil.rmtree('/work/moved'), shutil.rmtree('/work/again')
print(os.listdir('/work'), os.getcwd())
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile('w+') as file:
    print(folder.startswith('/tmp/'), file.write('x' * 10), file.seek(0), file.read())
with tempfile.NamedTemporaryFile(dir='/work', suffix='.bin') as file:
    print(os.path.exists(file.name), file.name.startswith('/work/'))
with open('log', 'w+') as file:
    file.write('one two'); file.seek(4); print(file.read(), file.truncate(3), file.tell())
with open('log', 'a') as file:
    print(file.tell(), file.write('!'))
print(open('log').read(), os.stat('log').st_size, os.stat('log').st_nlink)
os.replace('log', 'log2'); os.rename('log2', '/tmp/log3'); print(os.listdir('/work'), open('/tmp/log3').read())
os.utime('/tmp/log3', (10, 20)); print(os.stat('/tmp/log3').st_mtime, os.stat('/tmp/log3').st_atime)
fd = os.open('raw', os.O_RDWR | os.O_CREAT | os.O_EXCL)
print(os.write(fd, b'0123456789'), os.pread(fd, 4, 3), os.pwrite(fd, b'ab', 8), os.lseek(fd, -2, os.SEEK_END), os.read(fd, 9))
os.ftruncate(fd, 2); os.fsync(fd); print(os.fstat(fd).st_size); os.close(fd)
print(os.path.isdir('/work/..'), os.path.samefile('/tmp/../work/raw', 'raw'), os.path.realpath('../work/./raw'))
";
    assert_eq!(
        prints(Limits::default(), code),
        "['a', 'a/b', 'a/b/größe.txt']
['a/b/größe.txt', 'moved/b/größe.txt'] 18
['a/b/größe.txt', 'moved/b/größe.txt'] None
3
[] /work
True 10 0 xxxxxxxxxx
True True
two 3 7
3 1
one! 4 1
[] one!
20.0 10.0
10 b'3456' 2 8 b'ab'
2
True True /work/raw
"
    );
}

#[test]
fn a_database_lives_in_a_file() {
    let code = "
import sqlite3, os
db = sqlite3.connect('/work/shop.db')
with db:
    db.execute('create table item(name text primary key, price real)')
    db.executemany('insert into item values (?, ?)', [(f'item {n}', n / 2) for n in range(2000)])
try:
    with db:
        db.execute('delete from item')
        db.execute('insert into item values (1, 2, 3)')
except sqlite3.OperationalError as error:
    print(error)
print(db.execute('select count(*), sum(price) from item').fetchone(), db.execute('pragma integrity_check').fetchone())
db.execute('vacuum'); db.close()
again = sqlite3.connect('/work/shop.db')
print(again.execute('select price from item where name = ?', ('item 7',)).fetchone(), os.listdir('/work'))
";
    let mut session = session(Limits::default());
    let outcome = run(&mut session, code);
    assert_eq!(
        outcome.stdout,
        "table item has 2 columns but 3 values were supplied\n(2000, 999500.0) ('ok',)\n(3.5,) ['shop.db']\n"
    );
    assert_eq!(outcome.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["shop.db"]);
    assert!(outcome.usage.scratch_bytes > 50_000, "{}", outcome.usage.scratch_bytes);
    // The connection is a variable of the session, with its file open.
    assert_eq!(run(&mut session, "print(again.execute('select count(*) from item').fetchone())").stdout, "(2000,)\n");
}

#[test]
fn a_thousand_files_are_walked_while_they_are_removed() {
    let code = "
import os
for number in range(1000):
    open(f'/work/{number:03}.txt', 'w').close()
names = [entry.name for entry in os.scandir('/work') if entry.is_file() and entry.stat().st_size == 0]
print(len(names), names == sorted(names), len(set(names)))
for entry in os.scandir('/work'):
    os.unlink(entry.path)
print(os.listdir('/work'))
";
    let outcome = run(&mut session(Limits::default()), code);
    assert_eq!(outcome.stdout, "1000 True 1000\n[]\n");
    assert_eq!(outcome.files, []);
}

#[test]
fn a_file_without_a_name_counts_until_it_is_closed() {
    let code = format!(
        "{TRIED}
file = open('/work/large', 'w+b', buffering=0)
file.write(bytes(60 << 20)); os.unlink('/work/large')
print(os.listdir('/work'), file.seek(0), len(file.read(100)), os.fstat(file.fileno()).st_nlink)
other = open('/work/other', 'wb', buffering=0)
print(other.write(bytes(8 << 20)) >> 20, tried(other.write, b'x'))
file.close()
print(other.write(bytes(8 << 20)) >> 20)
"
    );
    let outcome = run(&mut session(Limits::default()), &code);
    assert_eq!(outcome.stdout, "[] 0 100 0\n4 ENOSPC\n8\n");
    assert_eq!(outcome.usage.scratch_bytes, 12 << 20);
}

#[test]
fn each_limit_has_its_own_error_and_the_program_goes_on() {
    let code = format!(
        "{TRIED}
file = open('/work/f', 'wb', buffering=0)
print(file.write(bytes(900_000)), file.write(bytes(900_000)), tried(file.write, b'x'))
print(tried(file.seek, 2_000_000), tried(file.write, b'x'), tried(os.truncate, '/work/f', 1_000_001))
print(tried(os.truncate, '/work/f', 999_999), tried(os.ftruncate, file.fileno(), 1_000_000))
with open('/tmp/g', 'wb', buffering=0) as other: print(tried(other.write, b'x'))
file.close(); os.unlink('/work/f')
print(tried(os.makedirs, '/work/1/2/3/4'), tried(os.makedirs, '/work/1/2/3/4/5'), tried(open, '/work/1/2/3/4/5', 'w'))
made = 0
while tried(open, f'/tmp/{{made}}', 'w') == 'ok': made += 1
print(made, tried(open, '/work/x', 'w'), tried(os.mkdir, '/work/x'), tried(os.rename, '/tmp/0', '/work/x'))
opened = []
try:
    while True: opened.append(open('/tmp/1'))
except OSError as error: print(len(opened), errno.errorcode[error.errno], error.strerror)
print(tried(os.listdir, '/work'), tried(open, '/usr/local/lib/python315.zip', 'rb'))
opened.clear(); print(os.listdir('/work'))
"
    );
    let limits = Limits::default().scratch(1_000_000).entries(30).depth(4).open_files(16);
    assert_eq!(
        prints(limits, &code),
        "900000 100000 ENOSPC
ok EFBIG EFBIG
ok ok
ENOSPC
ok EDQUOT EDQUOT
25 ENOSPC ENOSPC ok
16 EMFILE No file descriptors available
EMFILE EMFILE
['1', 'x']
"
    );
}

#[test]
fn what_is_not_the_programs_own_is_read_only_or_not_there() {
    let code = format!(
        "{TRIED}
import sys, socket
print([sorted(os.listdir(place)) for place in ('/', '/usr', '/usr/local', '/usr/local/lib', '/work/..')])
print([tried(open, path) for path in ('/etc/passwd', '/proc/self/environ', '/usr/bin', '/work/../../../../etc/passwd')])
print([tried(open, path, 'w') for path in ('/x', '/usr/x', '/usr/local/lib/x', '/usr/local/lib/python315.zip')])
print(tried(os.unlink, '/usr/local/lib/python315.zip'), tried(os.rmdir, '/work'), tried(os.rename, '/tmp', '/work/t'))
print(tried(os.symlink, '/etc', '/work/l'), tried(os.readlink, '/work'))
open('/work/f', 'w').close(); print(tried(os.link, '/work/f', '/work/l'))
print(sys.stdin.read() == '', [os.isatty(fd) for fd in (0, 1, 2)], sys.stdout.isatty(), tried(os.lseek, 1, 0, 0))
print(sorted(os.environ), tried(socket.socket), tried(os.open, '/work/f/', os.O_RDONLY), tried(os.mkdir, '/work/f/x'))
print(tried(os.stat, 'x' * 5000), tried(os.stat, 'y' * 256), tried(os.stat, b'\\xff'))
print(open('/usr/local/lib/python315.zip', 'rb').read(2), os.stat('/usr/local/lib/python315.zip').st_mtime)
"
    );
    assert_eq!(
        prints(Limits::default(), &code),
        "[['dev', 'tmp', 'usr', 'work'], ['local'], ['lib'], ['python315.zip'], ['dev', 'tmp', 'usr', 'work']]
['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT']
['EROFS', 'EROFS', 'EROFS', 'EROFS']
EROFS EINVAL EINVAL
EPERM EINVAL
EPERM
True [False, False, False] False ESPIPE
['HOME', 'PYTHONTZPATH', 'TMPDIR'] ENETUNREACH ENOTDIR ENOTDIR
ENAMETOOLONG ENAMETOOLONG EILSEQ
b'PK' 1767225600.0
"
    );
}

#[test]
fn the_devices_that_programs_expect_are_there() {
    let code = "
import os, random, shutil, sqlite3, stat, uuid
print(os.listdir('/dev'), stat.S_ISCHR(os.stat('/dev/null').st_mode))
with open('/dev/null', 'w') as sink:
    print(sink.write('gone'), sink.isatty(), open('/dev/null').read() == '')
shutil.copyfile('/dev/null', 'empty')
print(os.path.getsize('empty'))
kept = open('/dev/urandom', 'rb')
";
    let mut session = session(Limits::default());
    let printed = run(&mut session, code).stdout;
    assert_eq!(printed, "['null', 'random', 'urandom'] True\n4 False True\n0\n");
    // What is open is so in a saved session, too, and gives other bytes each time.
    let folder = tempfile::tempdir().expect("a folder");
    session.save(&folder.path().join("session")).expect("it can be saved");
    let load = || Session::load(python(), &folder.path().join("session"), SessionOptions::new(Limits::default()));
    let draws = "print(kept.read(8), sqlite3.connect(':memory:').execute('SELECT random()').fetchone(), \
                 random.SystemRandom().random(), uuid.uuid4())";
    let drawn = [(); 2].map(|()| run(&mut load().expect("it can be loaded"), draws).stdout);
    for (one, other) in drawn[0].split(' ').zip(drawn[1].split(' ')) {
        assert_ne!(one, other, "{drawn:?}");
    }
}

#[test]
fn after_a_stop_the_files_are_as_they_were_before_the_cell() {
    // `held` is open, so the next descriptor is 9.
    let mut session = session(Limits::default().wall(Duration::from_millis(300)));
    let kept =
        "open('/work/kept', 'w').write('kept'); held = open('/work/held', 'w+'); import os; os.unlink('/work/held')";
    assert_eq!(run(&mut session, kept).files.len(), 1);
    for end in ["while True: pass", "import time; time.sleep(60)", "os._exit(3)"] {
        let code =
            format!("import os\nopen('/work/kept', 'w').write('lost'); open('/work/new', 'w').write('x')\n{end}");
        let outcome = exec(&mut session, &code);
        assert_ne!(outcome.status, Status::Ok, "{end}");
        assert_eq!((outcome.files, outcome.usage.scratch_bytes), (vec![], 4), "{end}");
        let code = "import os; print(os.listdir('/work'), open('/work/kept').read(), open('/tmp/x', 'w').fileno())";
        assert_eq!(run(&mut session, code).stdout, "['kept'] kept 9\n", "{end}");
        assert_eq!(run(&mut session, "os.unlink('/tmp/x')").usage.scratch_bytes, 4, "{end}");
    }
    // An error is no stop.
    let outcome = exec(&mut session, "open('/work/kept', 'w').write('after'); 1 / 0");
    assert_eq!(outcome.status, Status::Error);
    assert_eq!((outcome.files[0].change, outcome.files[0].bytes), (Change::Modified, 5));
    session.restart();
    assert_eq!(run(&mut session, "print(open('/work/kept').read())").stdout, "after\n");
}

#[test]
fn a_file_that_does_not_fit_is_refused_with_its_numbers() {
    let host = tempfile::tempdir().expect("a folder");
    let file = host.path().join("data.bin");
    std::fs::write(&file, vec![7; 5000]).expect("a file");
    let mut session = session(Limits::default().scratch(8000));
    session.put_file(&file).expect("it fits");
    run(&mut session, "import os; os.rename('data.bin', 'one.bin')");
    let error = session.put_file(&file).expect_err("it does not fit");
    assert!(error.is_usage() && error.to_string().contains("has 5000 bytes, and 3000 of"), "{error}");
    assert!(error.advice().is_some_and(|advice| advice.contains("--scratch")));
    assert_eq!(run(&mut session, "os.unlink('one.bin')").files.len(), 1);
    session.put_file(&file).expect("it fits again");
    let outcome = run(&mut session, "print(len(open('data.bin', 'rb').read()))");
    assert_eq!((outcome.stdout.as_str(), outcome.files.len()), ("5000\n", 0));
}

const DRAWS: &str = "
import time, random, os, uuid, secrets, tempfile, numpy, datetime, hashlib
began = time.monotonic()
print(random.random(), numpy.random.random(), numpy.random.default_rng().random(), uuid.uuid4(), secrets.token_hex(4))
print(os.urandom(3).hex(), next(tempfile._get_candidate_names()), id(began), hash('text'), {'a', 'b', 'c'})
time.sleep(1000)
print(datetime.datetime.now(), time.time_ns(), time.perf_counter(), time.monotonic() - began > 1000)
open('/work/f', 'w').close()
print(os.stat('/work/f').st_mtime_ns, os.stat('/work/f').st_ino, object())
";

#[test]
fn a_deterministic_session_is_the_same_to_the_byte() {
    let cells = |seed| {
        let mut session = start(SessionOptions::new(Limits::default()).deterministic(seed));
        [run(&mut session, DRAWS), run(&mut session, DRAWS)].map(|outcome| format!("{outcome:?}"))
    };
    let began = Instant::now();
    let first = cells(7);
    assert_eq!(first, cells(7));
    assert_ne!(first[0], first[1]);
    let other = cells(8);
    assert_ne!(first[0].split_whitespace().next(), None);
    assert_ne!(first[0], other[0]);
    assert!(first[0].contains("2026-01-01 00:16:40"), "{}", first[0]);
    assert!(began.elapsed() < Duration::from_secs(300), "six sleeps of 1000 s take no time");
}

#[test]
fn fuel_is_the_time_limit_of_a_deterministic_session() {
    let options = SessionOptions::new(Limits::default().wall(Duration::from_millis(20))).deterministic(1);
    let mut session = start(options);
    let ends: Vec<_> = (0..2).map(|_| exec(&mut session, "while True: pass")).collect();
    for end in &ends {
        let limit = end.limit.as_ref().expect("a limit");
        assert_eq!((end.status, limit.name, limit.allowed), (Status::Fuel, "fuel", 4_000_000.0));
        assert_eq!((end.usage.wall, end.usage.fuel), (Duration::from_millis(20), 4_000_000));
    }
    let outcome = run(&mut session, "import time; time.sleep(3600); print(round(time.monotonic()) // 3600)");
    assert_eq!(outcome.stdout, "1\n", "what was stopped never happened");
    assert!(outcome.usage.wall > Duration::from_secs(3600));
}

#[test]
fn the_host_puts_lists_takes_and_removes_files_between_cells() {
    let mut session = session(Limits::default().scratch(1000).entries(10));
    session.put("data/in.csv", b"a,b\n1,2\n").expect("it fits");
    let code = "
import os
print(open('data/in.csv').read(), sorted(os.listdir('/work')))
kept = open('data/in.csv', 'r+'); open('result', 'wb').write(bytes(range(256)))
";
    let outcome = run(&mut session, code);
    assert_eq!(outcome.stdout, "a,b\n1,2\n ['data']\n");
    assert_eq!(
        outcome.files.iter().map(|file| &*file.path).collect::<Vec<_>>(),
        ["result"],
        "what was put is no change"
    );
    assert_eq!(session.get("result").expect("it is there"), (0..=255).collect::<Vec<u8>>());
    let listed: Vec<_> = session.list().into_iter().map(|file| (file.path, file.bytes)).collect();
    assert_eq!(listed, [("data/in.csv".to_owned(), 8), ("result".to_owned(), 256)]);
    session.put("data/in.csv", b"other").expect("it is replaced");
    assert_eq!(run(&mut session, "print(kept.read())").stdout, "other\n", "also for whoever has it open");
    session.remove("data").expect("it goes, with what is in it");
    let gone = "print(os.listdir('/work'), os.path.exists('data'), kept.seek(0), kept.read())";
    assert_eq!(run(&mut session, gone).stdout, "['result'] False 0 other\n");
    for path in ["/work/result", "../tmp/x", "a/../../tmp/x", ""] {
        assert!(session.put(path, b"x").expect_err(path).is_usage());
        assert!(session.get(path).expect_err(path).is_usage() && session.remove(path).expect_err(path).is_usage());
    }
    let error = session.put("large", &[0; 1000]).expect_err("it does not fit");
    assert!(error.to_string().contains("large: has 1000 bytes, and 739 of"), "{error}");
    run(&mut session, "kept.close()");
    session.put("large", &[0; 744]).expect("now it does");
    session.rewind().expect("there is a cell to undo");
    assert_eq!(session.list().len(), 1, "what was put since is undone too");
}

#[test]
fn folders_go_in_and_results_come_out_on_the_command_line() {
    let host = tempfile::tempdir().expect("a folder");
    let (data, out) = (host.path().join("data"), host.path().join("out"));
    std::fs::create_dir_all(data.join("sub")).expect("a folder");
    std::fs::write(data.join("sub/a.csv"), "1").expect("a file");
    let code = "
import os
print([(where, sorted(names)) for where, _, names in os.walk('/work')])
open('data/sub/a.csv', 'a').write('2'); os.makedirs('new'); open('new/b\\tc', 'w').close()
";
    let [data, out_text] = [&data, &out].map(|path| path.to_str().expect("text"));
    let done = tool::run(&["exec", "--file", data, "--out", out_text, "-c", code]).exits(0);
    assert_eq!(done.stdout, "[('/work', []), ('/work/data', []), ('/work/data/sub', ['a.csv'])]\n");
    assert!(done.stderr.ends_with(&format!("copied to {out_text}: data/sub/a.csv, new/b\tc\n")), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(out.join("data/sub/a.csv")).expect("it is there"), "12");
    let done = tool::run(&["exec", "--file", data, "--out", out_text, "--quiet", "-c", "pass"]).exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let done = tool::run(&["exec", "--file", data, "--entries", "1", "-c", "pass"]).exits(2);
    assert!(
        done.stderr.contains("limit of 1 files and folders") && done.stderr.contains("--entries"),
        "{}",
        done.stderr
    );
}
