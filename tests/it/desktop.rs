//! What programs expect of a machine with a person before it: sources, modules that are not here, a terminal, a disk.

use std::time::Duration;

use slm_code_interpreter::{Limits, SessionOptions, Status};

use crate::python::{exec, options, prints, session};

#[test]
fn every_missing_part_of_the_library_has_its_reason() {
    let code = "
import sys, warnings
warnings.simplefilter('ignore')
for name in sorted(sys.stdlib_module_names - {'antigravity', 'this', 'idlelib'}):
    try:
        __import__(name)
    except ModuleNotFoundError as e:
        print(name, '|', e)
    except ImportError:
        pass
";
    let told = prints(&mut session(options()), code);
    assert!(told.lines().count() > 30, "{told}");
    for line in told.lines() {
        assert!(line.contains("': ") && !line.contains("--file "), "{line}");
    }
}

#[test]
fn a_missing_module_says_why_and_what_is_here() {
    let outcome = exec(&mut session(options()), "import numpy\nimport requests\n");
    let error = outcome.error.expect("an error");
    assert_eq!((error.kind.as_str(), error.line), ("ModuleNotFoundError", Some(2)));
    assert!(error.message.starts_with("No module named 'requests': there is no network here"), "{}", error.message);
    let expected = format!(
        "Traceback (most recent call last):\n  File \"<cell 1>\", line 2, in <module>\n    import requests\n\
         ModuleNotFoundError: {}\n",
        error.message
    );
    assert_eq!(error.traceback, expected);
}

#[test]
fn optional_parts_of_pandas_are_refused_as_pandas_does() {
    let code = "
import pandas as pd
for write in (lambda: pd.DataFrame({'a': [1]}).to_parquet('x'), lambda: pd.DataFrame({'a': [1]}).to_feather('x')):
    try:
        write()
    except ImportError as e:
        print(type(e).__name__, 'pyarrow' in str(e), len(str(e)) < 600, '--with' in str(e))
try:
    pd.read_csv('https://example.org/data.csv')
except OSError as e:
    print(type(e).__name__, 'there is no network here' in str(e))
";
    let expected = "ImportError True True False\nImportError True True False\nURLError True\n";
    assert_eq!(prints(&mut session(options()), code), expected);
}

#[test]
fn cells_see_the_sources_of_earlier_cells() {
    let mut session = session(options());
    prints(
        &mut session,
        "def f(x):\n    '''\n    >>> f(1)\n    1.0\n    '''\n    return 1 / x\n\nclass A:\n    size = 3\n",
    );
    prints(&mut session, "import linecache\nlinecache.clearcache()\nlinecache.checkcache()\n");
    let seen = prints(
        &mut session,
        "import inspect, doctest\nprint(inspect.getsource(f).count('\\n'), inspect.getsource(A).split())\nprint(doctest.testmod())",
    );
    assert_eq!(seen, "6 ['class', 'A:', 'size', '=', '3']\nTestResults(failed=0, attempted=1)\n");
    let outcome = exec(&mut session, "f(0)");
    let error = outcome.error.expect("an error");
    assert!(error.traceback.contains("File \"<cell 1>\", line 6, in f\n    return 1 / x\n"), "{}", error.traceback);
}

#[test]
fn a_program_of_tests_exits_as_on_a_desktop() {
    let mut session = session(options());
    let tests = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(1, N)\n";
    let failed = exec(&mut session, &format!("{}unittest.main()", tests.replace('N', "2")));
    assert_eq!((failed.status, failed.exit_code), (Status::Exited, Some(1)));
    assert!(failed.stderr.contains("self.assertEqual(1, 2)") && failed.stderr.contains("FAILED (failures=1)"));
    let passed = exec(&mut session, &format!("{}unittest.main()", tests.replace('N', "1")));
    assert_eq!(passed.status, Status::Ok);
    let stays = exec(&mut session, "unittest.main(argv=[''], exit=False).result.testsRun");
    assert_eq!(stays.result.expect("a result").get("text/plain").map(String::as_str), Some("1"));
}

#[test]
fn nothing_waits_for_a_person() {
    let code = "
import cmd, code, getpass, os, pdb, pydoc, sys
cmd.Cmd().cmdloop()
code.interact(banner='', exitmsg='')
breakpoint()
pdb.set_trace()
pdb.run('x = 1')
pydoc.pager('paged\\n')
help()
license()
for ask in (input, getpass.getpass):
    try:
        ask()
    except EOFError as e:
        print('[%s]' % e)
print(repr(sys.stdin.read()), os.read(0, 5), sys.stdin.readlines())
";
    let outcome = exec(&mut session(options()), code);
    assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.error);
    let no_input = "[standard input is empty: put the data into the code, or give it as a file (--file)]\n";
    assert!(outcome.stdout.ends_with(&format!("{no_input}{no_input}'' b'' []\n")), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("paged\n"));
    assert_eq!(
        outcome.stderr.matches("there is no terminal here, so the program goes on").count(),
        3,
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("breakpoint() in <cell 1>, line 5:"));
}

#[test]
fn integers_are_added_up_in_64_bits() {
    let code = "
import numpy as np, pandas as pd
a = np.arange(100_000)
print(a.sum(), np.sum(a), np.add.reduce(a.astype(np.int64)), a.sum(axis=0), a.reshape(2, -1).sum(axis=1), sum(a.tolist()))
print(np.sum([2**30] * 4), np.prod([100_000, 100_000]), np.array([2**16] * 3).prod(), (a % 2 == 0).sum(), np.sum(a > 5))
print(a.sum().dtype, np.sum(np.ones(3, np.uint8)).dtype, np.sum(a, dtype=np.int32).dtype, a.astype(float).sum().dtype)
print(np.sum([0.5, 1]), np.sum([], axis=0), np.sum([[1, 2], [3, 4]], axis=0), np.sum([[1], [2]], keepdims=True), np.sum(3))
print(np.sum([1, 2], where=[True, False], initial=5), np.ma.array([1, 2], mask=[0, 1]).sum(), np.int32(7).sum(), np.array('a').dtype)
print(pd.Series(a).sum(), pd.DataFrame({'a': a}).sum().to_dict(), np.sum(np.array([1, 2], object)), a.mean(), a.std() > 1)
print(np.sum(pd.Series(a)), np.sum(pd.Series(a) > 5), np.prod(pd.Series([100_000] * 2)), pd.DataFrame({'dtype': a}).agg(np.sum))
out = np.zeros((), np.int32)
np.sum([1, 2], out=out)
print(out)
";
    let expected = "4999950000 4999950000 4999950000 4999950000 [1249975000 3749975000] 4999950000
4294967296 10000000000 281474976710656 50000 99994
int64 uint64 int32 float64
1.5 0.0 [4 6] [[3]] 3
6 1 7 <U1
4999950000 {'a': 4999950000} 3 49999.5 True
4999950000 99994 10000000000 dtype    4999950000
dtype: int64
3
";
    assert_eq!(prints(&mut session(options()), code), expected);
}

#[test]
fn any_screen_draws_into_memory() {
    let code = "
import matplotlib
for name in ('TkAgg', 'Qt5Agg', 'macosx', 'agg'):
    matplotlib.use(name)
    import matplotlib.pyplot as plt
    plt.switch_backend(name)
    plt.plot([1, 2])
    plt.savefig(name + '.png')
    plt.close()
    print(plt.get_backend().lower(), open(name + '.png', 'rb').read(4))
";
    let expected = ["tkagg", "qt5agg", "macosx", "agg"].map(|name| format!("{name} b'\\x89PNG'\n"));
    assert_eq!(prints(&mut session(options()), code), expected.concat());
}

#[test]
fn a_cell_after_one_that_filled_the_memory_can_free_it() {
    for size in [30_000, 100_000, 200_000] {
        let mut session = session(options());
        let filled = exec(&mut session, &format!("kept = []\nwhile True: kept.append(bytearray({size}))"));
        assert_eq!(filled.error.expect("an error").kind, "MemoryError");
        assert_eq!(prints(&mut session, "kept.clear(); print(1)"), "1\n", "with pieces of {size}");
    }
}

#[test]
fn the_disk_is_what_the_session_may_keep() {
    let mut session = session(SessionOptions::new(Limits::default().scratch(3 << 20).wall(Duration::from_secs(60))));
    let code = "
import shutil, tempfile
with open('a', 'wb') as f:
    f.write(bytes(1000))
kept = tempfile.NamedTemporaryFile()
kept.write(b'x' * 24)
kept.flush()
print(tuple(shutil.disk_usage('/work')))
try:
    shutil.disk_usage('/work/no')
except OSError as e:
    print(type(e).__name__)
print(shutil.disk_usage('.').free == 3 * 1024 ** 2 - 1024)
";
    assert_eq!(
        prints(&mut session, code),
        format!("({}, 1024, {})\nFileNotFoundError\nTrue\n", 3 << 20, (3 << 20) - 1024)
    );
    let files = exec(&mut session, "shutil.disk_usage('/work')").files;
    assert!(files.is_empty(), "asking leaves nothing: {files:?}");
}

#[test]
fn a_notebooks_lines_are_passed_over_or_refused() {
    let mut session = session(options());
    let outcome = exec(
        &mut session,
        "%matplotlib inline\n!pip install numpy\nimport numpy as np\n%time n = np.arange(4).sum()\nprint(n)\n",
    );
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Status::Ok, "6\n"));
    assert_eq!(outcome.stderr.lines().count(), 2, "{}", outcome.stderr);
    let refused = exec(&mut session, "x = 1\n!ls -l\n").error.expect("an error");
    assert_eq!((refused.kind.as_str(), refused.line), ("SyntaxError", Some(2)));
    assert_eq!(refused.message, "`!ls -l` is a shell's: there is no shell here: use os.listdir()");
}
