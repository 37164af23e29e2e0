"""What a program finds where other threads and processes would be: refusals that say why, and what to do instead.

One thread runs here and no process but this one, so whoever waits for another waits for ever. Depends on nothing else
of the driver's. `install` is called once, before the snapshot; all of it is for the cells, which may undo it.
"""

import errno
import os
import signal
import subprocess
import threading

import _thread

THREADS = (
    "threads cannot be started here: call the function directly, "
    "or use concurrent.futures.ThreadPoolExecutor, which runs its tasks in turn"
)
PROCESSES = (
    "processes cannot be started here: call the function directly, "
    "or use multiprocessing.Pool or concurrent.futures, which run their tasks in turn"
)
PROGRAMS = "no programs can be run here, only Python: use a library instead"
PIP = "pip cannot be run here: pure-Python packages can be added with --with NAME, when the program is started"
NETWORK = "there is no network here: give the data as a file (--file) or write it into the code"
WAITING = (
    "this would wait for ever: no other thread or process runs here that could release a lock, set an event or fill a queue"
)

#: What the wait for a lock that is held raises (see `src/sandbox/waits.rs`). Nothing else uses this signal.
DEADLOCK = 16

#: What only systems with processes have: asking whether it is there must go on answering no.
_ABSENT = {
    os: (PROCESSES, "fork forkpty wait wait3 wait4 waitid waitpid kill killpg posix_spawn posix_spawnp "
                    "execv execve spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe"),
    signal: ("no timer can interrupt the program here; its time limit ends it",
             "alarm setitimer getitimer pause pthread_kill sigwait sigwaitinfo sigtimedwait"),
}
_CLEARS = ("clear", "cls", "reset")


def install():
    """Puts the refusals in place."""
    from tqdm.std import tqdm

    signal.signal(DEADLOCK, deadlock)
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        setattr(_thread, name, start_thread)
    for name in ("_start_new_thread", "_start_joinable_thread"):
        setattr(threading, name, start_thread)
    subprocess.Popen.__init__ = run_program
    os.system = system
    for name in ("execl", "execle", "execlp", "execlpe", "execvp", "execvpe"):
        setattr(os, name, replace_program)
    tqdm.monitor_interval = 0  # its monitor is a thread, of which it would warn each time
    for module, (why, names) in _ABSENT.items():
        module.__getattr__ = absent(module.__name__, why, frozenset(names.split()))


def deadlock(signum, frame):
    """The handler of `DEADLOCK`."""
    raise RuntimeError(WAITING)


def start_thread(*args, **kwargs):
    """Stands in for what starts a thread."""
    raise RuntimeError(THREADS)


def run_program(self, args=(), *rest, **options):
    """Stands in for `subprocess.Popen`: the program is not found, as on a machine that lacks it."""
    raise refused(args)


def system(command):
    """Stands in for `os.system`. What only clears the screen has nothing to clear."""
    if command in _CLEARS:
        return 0
    raise refused(command)


def replace_program(file, *args):
    """Stands in for `os.execl` and its kin."""
    raise refused(file)


def refused(command):
    """The error of a command that cannot be run, be it a text, a path or a sequence of them."""
    words = command.split() if isinstance(command, str) else command
    try:
        words = [os.fsdecode(word) for word in ([words] if isinstance(words, (bytes, os.PathLike)) else words)]
    except TypeError:
        words = []
    why = PIP if any(os.path.basename(word) in ("pip", "pip3") for word in words[:3]) else PROGRAMS
    return FileNotFoundError(errno.ENOENT, why, words[0] if words else "")


def absent(module, why, names):
    """A module's `__getattr__` that gives the reason for the names it lacks."""

    def __getattr__(name):
        text = f"module {module!r} has no attribute {name!r}"
        if name in names:
            raise AttributeError(f"{text}: {why}")
        raise AttributeError(text)

    return __getattr__
