"""The interpreter around a cell: its streams, its builtins, its hooks, and what must be fresh in each session.

Depends on `_slm_wire`. Two worlds take turns. While a cell runs, the interpreter is as the session's cells made it:
they may replace builtins, streams, anything. Between cells it is pristine, because the wasm module's own entry point
and the error report run on the same names. `enter` puts the cells' changes in, `leave` parks them until the next cell.
"""

import builtins
import gc as _gc
import io as _io
import logging as _logging
import sys
import tempfile as _tempfile
import time as _time
from operator import is_not as _is_not
from os import urandom as _urandom
from random import seed as _random_seed
from sys import getrecursionlimit as _getrecursionlimit
from sys import setprofile as _setprofile
from sys import setrecursionlimit as _setrecursionlimit
from sys import settrace as _settrace

from _slm_wire import PRISTINE
from _slm_wire import PRISTINE as __builtins__

_TextIOWrapper, _FileIO = _io.TextIOWrapper, _io.FileIO
_FILES = frozenset((_io.TextIOWrapper, _io.BufferedWriter, _io.BufferedRandom))
_monitoring = getattr(sys, "monitoring", None)
_set_events, _get_tool = getattr(_monitoring, "set_events", None), getattr(_monitoring, "get_tool", None)
_register_callback = getattr(_monitoring, "register_callback", None)
#: What the collector calls; the list is its own.
_collecting = _gc.callbacks
_sys, _live, _modules = vars(sys), vars(builtins), sys.modules
_now, _now_ns = _time.time, _time.time_ns
_displayhook = sys.displayhook

#: Where a cell's files are, and where it imports its own modules from.
WORK = "/work"
#: The recursion limit that the driver and the entry point need. A lower one set by a cell ends with the cell.
_DEPTH = 1000
_MISSING = object()
#: What cells changed, while no cell runs: (dictionary, key, value).
_parked = []
_parked_collecting = []
#: Whether a cell runs, whose monitoring callbacks are called, and the files of code about which they hear nothing.
_watched = False
_unwatched = frozenset()
#: The values that `builtins` has between cells.
_originals = ()
#: Modules that must be found under their names, whatever a cell did to sys.modules.
_pinned = {}
_streams = {}
_OUTPUTS = ("stdout", 1), ("stderr", 2)
#: The states of global random generators, as writable bytes; the image's build puts them here (see wasm/memory.py).
twisters = []
#: Memory that is given back when a MemoryError has to be reported.
_ballast = []
_BALLAST = 512 << 10


def install(additions, pinned, ours):
    """Makes the pristine world, once, before the snapshot: `additions` are builtins for cells, `pinned` names of
    modules that must stay importable, `ours` the files of the driver."""
    global _originals, _unwatched
    _unwatched = ours
    if _monitoring is not None:
        _monitoring.register_callback = register_callback
    _live.pop("_", None)
    _live.update(additions)
    PRISTINE.update(additions)
    _originals = tuple(PRISTINE.values())
    _pinned.update({name: _modules[name] for name in pinned if name in _modules})
    _parked.clear()
    # Write-through: what print() has written must be with the host when a trap ends the cell.
    for name, fd in _OUTPUTS:
        _sys[name] = _renew(name, fd)
    # A module planted in the scratch folder must never stand in for one of the library, and importing one must not
    # leave a `__pycache__` among the user's files.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", ".", WORK)] + [WORK]
    sys.path_importer_cache.pop(WORK, None)
    sys.dont_write_bytecode = True
    # Temporary names come from a generator of their own, which is made and seeded at a first use.
    _tempfile._name_sequence = None
    if not _ballast:
        _fill_ballast()


def freshen():
    """What a snapshot froze and each session needs anew.

    The global generators of `random` and numpy: their states lie in memory, so every session would draw the same
    numbers. Where these states are known they are filled with random bytes: any 624 words that are not all zero are
    one, and running numpy's own seeding would write to 40 pages. `secrets`, `uuid4`, `os.urandom` and
    `numpy.random.default_rng()` ask the host each time and are fresh by themselves.
    `logging` counts `relativeCreated` from its import. The seed of `hash(str)` stays as it was: the dictionaries in
    the snapshot are built on it.
    """
    for state in twisters:
        state[:] = _urandom(len(state))
    if not twisters:
        _random_seed()
    if hasattr(_logging, "_startTime"):
        integral = type(_logging._startTime) is int
        _logging._startTime = _now_ns() if integral else _now()


def add_packages(folder):
    """Lets cells import from `folder`, after the library and before their own modules."""
    path = _sys["path"]
    # What was found there may have been another session's.
    _sys["path_importer_cache"].pop(folder, None)
    if folder not in path:
        path.insert(path.index(WORK) if WORK in path else len(path), folder)


def enter(main):
    """Puts the cells' own changes in place again: a cell is about to run."""
    global _watched
    _watched = True
    if not _ballast:
        _fill_ballast()
    # Without it exec() would hand the driver's private builtins to the cell.
    main.setdefault("__builtins__", builtins)
    for name, fd in _OUTPUTS:
        if _closed(_streams[name]):  # with its descriptor, which the host has opened again since
            _sys[name] = _renew(name, fd)
    while _parked:
        mapping, key, value = _parked.pop()
        if value is _MISSING:
            mapping.pop(key, None)
        else:
            mapping[key] = value
    _move(_parked_collecting, _collecting)


def quiet():
    """Ends tracing, profiling and monitoring. A trace or profile function that raises here is removed by that, or by
    the next attempt."""
    global _watched
    _watched = False
    for stop in (_settrace, _setprofile, _settrace):
        try:
            stop(None)
        except BaseException:
            pass
    try:
        if _getrecursionlimit() < _DEPTH:
            _setrecursionlimit(_DEPTH)
        if _set_events is not None:
            for tool in range(6):
                if _get_tool(tool) is not None:
                    _set_events(tool, 0)
    except BaseException:
        pass


def leave(main):
    """Makes the world pristine again: a cell has ended. Everything written so far is handed to the host."""
    for name, fd in _OUTPUTS:
        _settle(name, fd)
    # The originals come first in `builtins`, in their order, unless a cell deleted one: this finds any change.
    if any(map(_is_not, _live.values(), _originals)) or len(_live) < len(_originals):
        for name, original in PRISTINE.items():
            _park(_live, name, original)
    _park(_sys, "displayhook", _displayhook)
    _move(_collecting, _parked_collecting)
    for name, module in _pinned.items():
        if _modules.get(name) is not module:
            _modules[name] = module
    # A file that a cell left open in a variable is written out, as it would be at the end of a script.
    for value in list(main.values()):
        if type(value) in _FILES:
            _flush(value)


def register_callback(tool_id, event, func, /):
    """Stands in for `sys.monitoring.register_callback`. Nothing removes a callback that raises, and events stay on until
    the driver has ended them, so it must not be called for the driver's own code, nor between cells."""
    if func is not None:
        func = _Callback(func)
    previous = _register_callback(tool_id, event, func)
    return previous.func if type(previous) is _Callback else previous


class _Callback:
    """A cell's monitoring callback."""

    def __init__(self, func):
        self.func = func

    def __call__(self, code, *rest):
        if _watched and code.co_filename not in _unwatched:
            return self.func(code, *rest)


def write_error(text):
    """Writes to the cells' standard error, or to ours when that does not take it."""
    for stream in (_sys.get("stderr"), _streams["stderr"]):
        try:
            stream.write(text)
        except BaseException:
            continue
        _flush(stream)
        return


def remember(value):
    """Binds the latest result to `_`."""
    _live["_"] = value


def release_ballast():
    """Gives back the memory kept for the report of a MemoryError."""
    for block in _ballast:
        block.clear()  # in the snapshot the object itself is never freed (see wasm/memory.py), but its memory is
    _ballast.clear()


def _fill_ballast():
    try:
        _ballast.append(bytearray(_BALLAST))
    except MemoryError:
        pass


def _park(mapping, key, original):
    value = mapping.get(key, _MISSING)
    if value is not original:
        _parked.append((mapping, key, value))
        mapping[key] = original


def _move(functions, to):
    """Moves what the collector is to call out of the way or back."""
    if functions:
        to.extend(functions)
        functions.clear()


def _stream(name, fd):
    """A text stream on a descriptor, as `python -u` makes it: nothing is held back."""
    raw = _FileIO(fd, "w", closefd=False)
    raw.name = f"<{name}>"
    errors = "surrogateescape" if name == "stdout" else "backslashreplace"
    text = _TextIOWrapper(raw, "utf-8", errors, "\n", write_through=True)
    text.mode = "w"
    return text


def _settle(name, fd):
    """Flushes the stream in use, parks it when it is the cells' own, and puts ours in its place."""
    ours, current = _streams[name], _sys.get(name)
    intact = _flush(ours)  # not so when it was closed or detached
    if current is not ours:
        _flush(current)
        if current is not None and not _closed(current):
            _parked.append((_sys, name, current))
    elif intact and len(vars(ours)) != 1:  # a cell replaced one of its methods
        _parked.append((_sys, name, ours))
        intact = False
    if not intact:
        try:
            ours = _renew(name, fd)
        except OSError:
            pass  # its descriptor is closed as well: the next cell begins with a new one
    _sys[name] = ours


def _renew(name, fd):
    ours = _streams[name] = _sys[f"__{name}__"] = _stream(name, fd)
    return ours


def _flush(stream):
    try:
        # Of a plain stream the real method, of another whatever it has.
        if type(stream) is _TextIOWrapper:
            _TextIOWrapper.flush(stream)
        else:
            stream.flush()
    except BaseException:
        return False
    return True


def _closed(stream):
    try:
        return bool(getattr(stream, "closed", False))
    except BaseException:
        return True
