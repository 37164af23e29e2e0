//! What a session finds in the image, whose objects are immortal and whose free memory was filled: everything works as
//! in an interpreter that has just started.

use std::time::Duration;

use slm_code_interpreter::{
    Cancel, Capacity, Config, Error, Limits, Outcome, Overrides, Progress, Python, Result, Session, SessionOptions,
    Status,
};

fn session() -> Session {
    session_of(&python(|capacity| capacity))
}

fn session_of(python: &Python) -> Session {
    python.session(SessionOptions::new(Limits::default())).expect("a session")
}

/// Sessions of one image share what it runs on, so what one leaves behind could reach the next.
fn python(capacity: impl FnOnce(Capacity) -> Capacity) -> Python {
    let mut config = Config::resolve(Overrides::default()).expect("the settings");
    config.capacity = capacity(config.capacity);
    Python::open(&config, &Progress::default(), &Cancel::new()).expect("the image")
}

#[track_caller]
fn run(session: &mut Session, code: &str) -> Outcome {
    let outcome = session.exec(code, &Cancel::new()).expect("the sandbox runs");
    assert_eq!(outcome.status, Status::Ok, "{:?}\n{}", outcome.error, outcome.stderr);
    assert_eq!(outcome.stderr, "");
    outcome
}

/// What `code` prints in a session of its own.
#[track_caller]
fn prints(code: &str) -> String {
    run(&mut session(), code).stdout
}

#[test]
fn what_the_image_holds_is_immortal_and_what_a_session_makes_is_not() {
    let code = "
import sys, json, numpy, pandas
old = [sys.modules, json, json.loads, json.loads.__code__, numpy.ndarray, pandas.DataFrame.sum, str.join, dict.__dict__['get'],
       sys.modules['_slm_cell'].run, sys.modules['_slm_cell'].run.__code__.co_consts, json.decoder.__dict__]
print([value for value in old if not sys._is_immortal(value)])
print([value for value in (object(), [1], {'a': 1}, 'x' * len(old), lambda: 0, pandas.DataFrame()) if sys._is_immortal(value)])
import gc
gc.collect()
print(len([value for value in gc.get_objects() if sys._is_immortal(value)]) < 50)
";
    assert_eq!(prints(code), "[]\n[]\nTrue\n");
}

#[test]
fn no_two_sessions_draw_the_same() {
    let code = "
import random, numpy, uuid, os, secrets, tempfile
print(random.random(), random.gauss(0, 1), random.Random().random())
print(numpy.random.random(), numpy.random.normal(), numpy.random.default_rng().random())
print(uuid.uuid4(), os.urandom(8).hex(), secrets.token_hex(8), next(tempfile._get_candidate_names()))
";
    let drawn = [prints(code), prints(code), prints(code)];
    let mut seen = std::collections::HashSet::new();
    for word in drawn.iter().flat_map(|text| text.split_whitespace()) {
        assert!(seen.insert(word), "{word} twice in {drawn:?}");
    }
    assert_eq!(seen.len(), 30);
}

#[test]
fn a_seed_gives_what_it_gives_everywhere() {
    let code = "
import random, numpy
random.seed(42), numpy.random.seed(42)
print(random.random(), random.randint(1, 100), numpy.random.randint(0, 100, 3).tolist())
";
    // As CPython 3.13 and numpy 2 print them on any machine.
    assert_eq!(prints(code), "0.6394267984578837 4 [51, 92, 14]\n");
}

#[test]
fn the_generators_are_well_mixed_from_the_first_draw() {
    let code = "
import random, numpy
draws = [random.random() for _ in range(4000)]
print(abs(sum(draws) / len(draws) - 0.5) < 0.05, abs(numpy.random.random(4000).mean() - 0.5) < 0.05)
print(abs(numpy.random.normal(size=4000).std() - 1) < 0.1, len(set(draws)) == 4000)
";
    assert_eq!(prints(code), "True True\nTrue True\n");
}

#[test]
fn garbage_is_collected_and_weak_references_say_so() {
    let code = "
import gc, weakref
gone = []
class Node: pass
def cycle():
    a, b = Node(), Node()
    a.other, b.other = b, a
    weakref.finalize(a, gone.append, 'cycle')
cycle()
gc.collect()
plain = Node()
weakref.ref(plain, gone.append)
watch = weakref.ref(plain, lambda _: gone.append('plain'))
del plain
class Loud:
    def __del__(self): gone.append('del')
Loud()
print(gone)
import json, types
json.extra = Loud()
del json.extra
print(gone)
gc.unfreeze(), gc.collect(), gc.collect()
import pandas
print(pandas.DataFrame({'a': [1, 2]}).sum().sum())
";
    assert_eq!(prints(code), "['cycle', 'plain', 'del']\n['cycle', 'plain', 'del', 'del']\n3\n");
}

#[test]
fn what_looks_for_a_count_of_one_still_works() {
    let code = "
import sys, itertools, io, collections, string, numpy
text = string.ascii_letters
text += 'x'
print(string.ascii_letters == text[:-1], len(text))
sys.path += ['/extra']; sys.path.remove('/extra'); print('/extra' in sys.path)
array = numpy.arange(6); array += 1; print(array[:3] * 2 + array[3:])
buffer = io.BytesIO(b'abc'); buffer.seek(3); buffer.write(b'd'); print(buffer.getvalue())
print([pair for pair in zip('ab', 'cd')], list(enumerate('ab')), dict.fromkeys('ab', 0))
print(sys.getrefcount([]) < 5)
";
    assert_eq!(
        prints(code),
        "True 53\nFalse\n[ 6  9 12]\nb'abcd'\n[('a', 'c'), ('b', 'd')] [(0, 'a'), (1, 'b')] {'a': 0, 'b': 0}\nTrue\n"
    );
}

#[test]
fn modules_can_be_changed_removed_and_imported_anew() {
    let code = "
import sys, json, importlib
json.loads = len
print(json.loads('[1]'))
importlib.reload(json)
print(json.loads('[1]'))
for name in [name for name in sys.modules if name.split('.')[0] in ('json', 'decimal', 'statistics')]:
    del sys.modules[name]
import json as again, statistics, decimal
print(again is json, again.dumps({'a': 1}), statistics.mean([1, 2]), decimal.Decimal('0.1') * 3)
";
    assert_eq!(prints(code), "3\n[1]\nFalse {\"a\": 1} 1.5 0.3\n");
}

#[test]
fn figures_find_their_fonts() {
    let code = "
import matplotlib.pyplot as plt, pandas as pd
frame = pd.DataFrame({'month': ['Jan', 'Feb', 'Mar'], 'sales': [3, 1, 2]})
frame.plot.bar(x='month', y='sales', title='Größe $x^2$')
plt.savefig('/work/figure.png')
plt.close('all')
with open('/work/figure.png', 'rb') as file:
    print(file.read(8), len(file.read()) > 5000)
print(frame.groupby('month')['sales'].sum().sort_values().to_dict())
";
    assert_eq!(prints(code), "b'\\x89PNG\\r\\n\\x1a\\n' True\n{'Feb': 1, 'Mar': 2, 'Jan': 3}\n");
}

#[test]
fn what_a_session_frees_it_uses_again() {
    let mut session = session();
    let code = "
for size in (10, 1000, 100_000, 3_000_000):
    for _ in range(300_000_000 // (size + 3000)):
        block = bytearray(size)
table = {}
for number in range(300_000):
    table[number % 100] = [str(number)] * 10
";
    let first = run(&mut session, code).usage.memory_bytes;
    let second = run(&mut session, code).usage.memory_bytes;
    let third = run(&mut session, code).usage.memory_bytes;
    assert!(first < 200 << 20, "{first} bytes");
    assert_eq!((second, third), (first, first));
}

#[test]
fn the_reserve_for_reporting_a_memory_error_can_be_given_back() {
    let code = "
world = __import__('_slm_world')
def place(): return id(bytes(500 << 10))
kept = []
while (before := id(block := bytes(500 << 10))) < id(world._ballast[0]):
    kept.append(block)
del block
world.release_ballast()
print(place() < before, place() == place())
";
    let mut session = session();
    assert_eq!(run(&mut session, code).stdout, "True True\n");
    assert_eq!(run(&mut session, "print(len(world._ballast))").stdout, "1\n");
}

#[test]
fn a_cell_that_fills_the_memory_is_told_so() {
    let mut session = session();
    let code = "kept = []\nwhile True: kept.append(bytearray(100_000))";
    let outcome = session.exec(code, &Cancel::new()).expect("the sandbox runs");
    assert_eq!((outcome.status, outcome.error.expect("an error").kind.as_str()), (Status::Error, "MemoryError"));
    assert_eq!(run(&mut session, "kept.clear(); print(1)").stdout, "1\n");
}

#[test]
fn errors_exits_and_results_follow_a_rehearsal_that_left_no_trace() {
    let mut session = session();
    let names = "sorted(name for name in globals() if not name.startswith('__')), '_' in vars(__import__('builtins'))";
    let result = run(&mut session, names).result.expect("a result");
    assert_eq!(result.get("text/plain").map(String::as_str), Some("([], False)"));
    let traces = "
import sys, linecache
print([name for name in vars(sys) if name.startswith('last_')], sys.argv)
print([name for name in linecache.cache if name.startswith('<cell') and name != '<cell 2>'])
";
    assert_eq!(run(&mut session, traces).stdout, "[] ['cell']\n['<cell 1>']\n");
    let failed = session.exec("1 / 0", &Cancel::new()).expect("the sandbox runs");
    let error = failed.error.expect("an error");
    assert_eq!((failed.status, error.kind.as_str(), error.line), (Status::Error, "ZeroDivisionError", Some(1)));
}

/// Counts a secret in the first SIZE bytes of linear memory. The search itself holds it nowhere in one piece.
const SEARCH: &str = "
import numpy
class Memory:
    __array_interface__ = {'data': (1024, False), 'typestr': '|u1', 'shape': (SIZE - 1024,), 'version': 3}
memory, needle, found = numpy.asarray(Memory()), [*b'kept by', *b' the one before'], 0
for start in range(0, len(memory) - len(needle), 1 << 20):
    at = start + numpy.flatnonzero(memory[start:start + (1 << 20)] == needle[0])
    for offset, byte in enumerate(needle):
        at = at[at + offset < len(memory)]
        at = at[memory[at + offset] == byte]
    found += len(at)
print(found)
";

#[test]
fn a_session_finds_no_byte_of_an_earlier_one() {
    let python = python(|capacity| capacity.workers(1));
    let fresh = || {
        let limits = Limits::default().wall(Duration::from_secs(100));
        python.session(SessionOptions::new(limits)).expect("a session")
    };
    let search = |session: &mut Session, size: u64| -> u64 {
        run(session, &SEARCH.replace("SIZE", &size.to_string())).stdout.trim().parse().expect("a number")
    };
    // Over the image's own pages, on its heap, and far beyond its end.
    let plant = "
import numpy
secret = b'kept by' + b' the one before'
class Image:
    __array_interface__ = {'data': (id(numpy.__doc__) + 100, False), 'typestr': '|u1', 'shape': (len(secret),), 'version': 3}
numpy.asarray(Image())[:] = list(secret)
small = [bytes(secret) + bytes(100) for _ in range(1000)]
large = [bytearray(secret * 100_000) for _ in range(20)]
with open('/tmp/secret', 'wb') as file:
    file.write(secret * 1000)
";
    for round in 0..2 {
        let mut earlier = fresh();
        let size = run(&mut earlier, plant).usage.memory_bytes;
        let there = search(&mut earlier, size);
        assert!(there > 2_000_000, "the search finds what is there: {there}");
        drop(earlier);

        let mut next = fresh();
        let begun = run(&mut next, "import numpy").usage.memory_bytes;
        assert_eq!(search(&mut next, begun), 0, "round {round}");
        // Memory as far as the earlier one had grown, of which nothing has been written yet. 32 MiB more than that are
        // enough, since the image has less than that to spare.
        let blocks = (size.saturating_sub(begun) >> 20) + 32;
        let grow = format!("kept = [numpy.empty(1 << 20, 'u1') for _ in range({blocks})]");
        let grown = run(&mut next, &grow).usage.memory_bytes;
        assert!(begun + (20 << 20) < size && size <= grown, "{begun}, then {grown} of {size} bytes");
        assert_eq!(search(&mut next, grown), 0, "round {round}, grown");
    }
}

#[test]
fn a_session_too_many_is_refused_until_another_ends() {
    let python = python(|capacity| capacity.sessions(2));
    let open = || python.session(SessionOptions::new(Limits::default()));
    let (first, _second) = (open().expect("a session"), open().expect("a session"));
    let refused = open().expect_err("an error");
    assert!(refused.is_busy() && refused.advice().is_some(), "{refused:?}");
    drop(first);
    assert_eq!(run(&mut open().expect("a session"), "print(1)").stdout, "1\n");
}

#[test]
fn sessions_share_the_memory_they_grow_into() {
    let python = python(|capacity| capacity.memory(200 << 20));
    let take = "
def take():
    blocks = []
    try:
        while True: blocks.append(bytearray(10 << 20))
    except MemoryError:
        return blocks
blocks = take()
print(len(blocks))
";
    let (mut one, mut other) = (session_of(&python), session_of(&python));
    let taken = |session: &mut Session| -> u64 { run(session, take).stdout.trim().parse().expect("a number") };
    let alone = taken(&mut one);
    assert!((15..=25).contains(&alone), "{alone} blocks of 10 MiB of 200 MiB");
    let beside = taken(&mut other);
    assert!(beside < 5, "{beside} blocks, when another has {alone}");
    assert_eq!(run(&mut other, "print(sum(range(10)))").stdout, "45\n", "it goes on");
    drop(one);
    let again = taken(&mut other);
    assert!((12..=25).contains(&again), "{again} blocks when the other has gone");
}

#[test]
fn a_cell_that_waits_for_its_turn_has_its_whole_time_and_can_be_cancelled() {
    let python = python(|capacity| capacity.workers(1));
    let (mut first, mut second, mut third) = (session_of(&python), session_of(&python), session_of(&python));
    run(&mut third, "x = 7");
    let (stop, impatient) = (Cancel::new(), Cancel::new());
    std::thread::scope(|scope| {
        let (stop, impatient) = (&stop, &impatient);
        let holder = scope.spawn(move || first.exec("import time; time.sleep(600)", stop));
        let waiter = scope.spawn(move || run(&mut second, "print(2)"));
        let cancelled = scope.spawn(move || (third.exec("import time; time.sleep(600)", impatient), third));
        // Whether it waits for its turn by now, or has it.
        impatient.cancel();
        let (ended, mut third) = cancelled.join().expect("no panic");
        let before_its_turn = |ended: &Result<Outcome>| ended.as_ref().is_err_and(Error::is_cancelled);
        let during = |ended: &Result<Outcome>| ended.as_ref().is_ok_and(|outcome| outcome.status == Status::Cancelled);
        assert!(before_its_turn(&ended) || during(&ended), "{ended:?}");
        stop.cancel();
        let held = holder.join().expect("no panic");
        assert!(before_its_turn(&held) || during(&held), "{held:?}");
        assert_eq!(waiter.join().expect("no panic").stdout, "2\n");
        if before_its_turn(&ended) {
            assert_eq!(run(&mut third, "print(x)").stdout, "7\n", "the session is as it was");
        }
    });
}

#[test]
fn a_monitoring_callback_that_raises_ends_with_its_cell() {
    let mut session = session();
    let code = "
import sys
def bad(*a): raise SystemExit(0)
m = sys.monitoring
m.use_tool_id(3, 'bad')
events = [m.events.PY_START, m.events.PY_RETURN, m.events.CALL, m.events.LINE, m.events.INSTRUCTION]
for event in events: m.register_callback(3, event, bad)
m.set_events(3, sum(events))
";
    let spoilt = session.exec(code, &Cancel::new()).expect("the sandbox runs");
    assert_ne!(spoilt.status, Status::Timeout);
    assert_eq!(run(&mut session, "x = [1]\nprint(len(x))").stdout, "1\n");
    let failed = session.exec("1 / 0", &Cancel::new()).expect("the sandbox runs");
    assert_eq!(failed.error.expect("an error").kind, "ZeroDivisionError");
}

/// Fuel ends it, and not the machine's time: that would be 151 seconds.
#[test]
fn in_a_deterministic_session_moving_bytes_takes_time() {
    let limits = Limits::default().wall(Duration::from_secs(50)).fuel(150_000_000);
    let python = python(|capacity| capacity);
    let mut session = python.session(SessionOptions::new(limits).deterministic(1)).expect("a session");
    let write =
        "import os\nf = os.open('f', os.O_RDWR | os.O_CREAT)\nb = bytes(60 << 20)\nwhile True: os.pwrite(f, b, 0)";
    for code in [write, "import os\nwhile True: os.urandom(1 << 20)"] {
        let outcome = session.exec(code, &Cancel::new()).expect("the sandbox runs");
        assert_eq!(outcome.status, Status::Fuel, "{:?} {:?}", outcome.limit, outcome.error);
        assert_eq!(outcome.usage.fuel, 150_000_000);
    }
}
