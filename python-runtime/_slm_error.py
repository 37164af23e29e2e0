"""An uncaught exception as an error frame: type, message, the line in the cell, and the traceback a person expects.

Depends on `_slm_wire` and `_slm_bundle`. The traceback is CPython's own (`traceback.TracebackException`), without the
driver's frames. Should that fail, because the cell changed the modules it stands on or no memory is left, a plainer
one is made here; should that fail too, the frame still names the type.
"""

import ast  # noqa: F401  traceback imports these at its first use; here they come from the read-only library
import linecache as _linecache
import tokenize  # noqa: F401
from builtins import BaseException as _Base
from traceback import TracebackException as _TracebackException

import _slm_wire as _wire
from _slm_bundle import type_name
from _slm_wire import PRISTINE as __builtins__
from _slm_wire import exact as _exact

try:
    import _suggestions  # noqa: F401
except ImportError:
    pass

_traceback_of = _Base.__dict__["__traceback__"].__get__
#: Sets an exception's traceback, whatever its class makes of that attribute.
set_traceback = _Base.with_traceback
#: Files whose frames are the driver's own.
OURS = {type_name.__code__.co_filename, _exact.__code__.co_filename}
#: The sources of the latest cells, by file name, each a list of lines.
SOURCES = {}
_characters = 0
_KEPT = 100
_KEPT_CHARACTERS = 4 << 20
_FRAMES = 40


def hide(function):
    """Counts the file that defines `function` among the driver's own."""
    OURS.add(function.__code__.co_filename)


hide(hide)


def register(name, source):
    """Makes a cell's source known to tracebacks and `inspect`, and forgets the oldest beyond a bound."""
    global _characters
    _forget(name)
    SOURCES[name] = [line + "\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    _characters += _size(name)
    _publish(name)
    while len(SOURCES) > 1 and (len(SOURCES) > _KEPT or _characters > _KEPT_CHARACTERS):
        _forget(next(iter(SOURCES)))


def forget_all():
    """Forgets every cell's source."""
    while SOURCES:
        _forget(next(iter(SOURCES)))


def publish_all():
    """Makes every kept source known to `linecache` once more."""
    for name in SOURCES:
        _publish(name)


def _size(name):
    return sum(map(len, SOURCES[name]))


def _publish(name):
    try:
        # No modification time: linecache.checkcache() leaves such entries alone.
        _linecache.cache[name] = (_size(name), None, SOURCES[name], name)
    except BaseException:
        pass


def _forget(name):
    global _characters
    if name in SOURCES:
        _characters -= _size(name)
        del SOURCES[name]
        try:
            del _linecache.cache[name]
        except BaseException:
            pass


def strip(exc):
    """Takes the driver's frames off the beginning of the exception's traceback."""
    tb = _traceback_of(exc)
    while tb is not None and tb.tb_frame.f_code.co_filename in OURS:
        tb = tb.tb_next
    set_traceback(exc, tb)
    return tb


def report(exc, cell):
    """Sends the error frame of a stripped exception that left the cell named `cell`."""
    try:
        message, line = _message(exc), _line(exc, cell)
        publish_all()  # a cell may have emptied linecache's dictionary
        frame = _wire.error(type_name(type(exc)), message, line, _traceback(exc, cell, message))
    except BaseException:
        frame = _wire.error(type_name(type(exc)), "(the error could not be described)", None, "")
    _wire.send(frame)


def text(exc):
    """The traceback of an exception that is printed rather than sent."""
    return _wire.ends(_traceback(exc, None, _message(exc)), _wire.TRACEBACK)


def _message(exc):
    try:
        # str() of a SyntaxError ends in the place, which has a field of its own.
        if issubclass(type(exc), SyntaxError) and issubclass(type(exc.msg), str):
            return _exact(exc.msg)
        return _exact(str(exc))
    except BaseException:
        return "<exception str() failed>"


def _line(exc, cell):
    """The line of the cell where the error arose, or that led there."""
    line = None
    tb = _traceback_of(exc)
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == cell:
            line = tb.tb_lineno
        tb = tb.tb_next
    if line is None and _is_syntax_error_of(exc, cell):
        line = exc.lineno
    return line if type(line) is int and 0 < line < 1 << 31 else None


def _is_syntax_error_of(exc, cell):
    try:
        return issubclass(type(exc), SyntaxError) and exc.filename == cell and type(exc.lineno) is int
    except BaseException:
        return False


def _traceback(exc, cell, message):
    try:
        if _is_syntax_error_of(exc, cell) and exc.text is None:
            # The compiler's later passes know only the place.
            lines = SOURCES.get(cell, ())
            if 0 < exc.lineno <= len(lines):
                exc.text = lines[exc.lineno - 1]
        tree = _TracebackException(type(exc), exc, _traceback_of(exc), compact=True)
        _drop_ours(tree)
        return "".join(tree.format())
    except BaseException:
        return _plain_traceback(exc, message)


def _drop_ours(tree):
    """Takes the driver's frames out of a TracebackException and all it is chained to."""
    todo, seen = [tree], set()
    while todo:
        part = todo.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        if part.stack:
            part.stack[:] = [frame for frame in part.stack if frame.filename not in OURS]
        todo += [part.__cause__, part.__context__]
        todo += part.exceptions or ()


def _plain_traceback(exc, message):
    """The traceback of the exception alone, made with nothing a cell can reach by ordinary means."""
    frames = []
    tb = _traceback_of(exc)
    while tb is not None:
        code = tb.tb_frame.f_code
        frames.append((code.co_filename, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    if len(frames) > _FRAMES:
        frames = frames[: _FRAMES // 2] + [None] + frames[-_FRAMES // 2 :]
    text = ["Traceback (most recent call last):\n"]
    for frame in frames:
        if frame is None:
            text.append("  …\n")
            continue
        file, line, name = frame
        text.append(f'  File "{file}", line {line}, in {name}\n')
        lines = SOURCES.get(file, ())
        if line and 0 < line <= len(lines):
            text.append(f"    {lines[line - 1].strip()}\n")
    text.append(f"{type_name(type(exc))}: {message}\n" if message else f"{type_name(type(exc))}\n")
    return "".join(text)
