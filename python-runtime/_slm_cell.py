"""The cell driver: what the host calls to run cells in the guest's interpreter.

Depends on all the other modules of the driver. It is imported and `install`ed once, before the snapshot; then the
host calls `start` once in each session, `run` for each cell, and `finish` at the end, each by a line of code through
the wasm module's `turn`. Whether a cell succeeded the host sees from what `turn` returned; the
frames sent meanwhile only say what happened. So a cell that failed ends in `SystemExit(1)`, which makes `turn` return
1 and print nothing.
"""

import __future__

import ast as _ast
import atexit as _atexit
import sys
from gc import collect as _collect
from json import JSONDecoder as _JSONDecoder
from json.decoder import scanstring as _scanstring

import _slm_bundle as _bundle
import _slm_desktop as _desktop
import _slm_error as _error
import _slm_figures as _figures
import _slm_ipython as _ipython
import _slm_loop as _loop
import _slm_magic as _magic
import _slm_missing as _missing
import _slm_wire as _wire
import _slm_world as _world
from _slm_wire import PRISTINE as __builtins__

_decode = _JSONDecoder().decode
_run_exit_handlers = _atexit._run_exitfuncs
_excepthook = sys.__excepthook__
_sys = vars(sys)
_Expr, _Expression = _ast.Expr, _ast.Expression
_ONLY_AST, _AWAIT = _ast.PyCF_ONLY_AST, _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
#: The flag of code with an `await` of its own (`inspect.CO_COROUTINE`).
_COROUTINE = 128
_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
del _name

#: The namespace of `__main__`, where cells run.
_main = None
#: `from __future__` statements hold for the cells that follow, as at an interactive prompt.
_flags = 0
#: Sent when the driver itself could not go on, for want of memory or because of an audit hook; made beforehand.
_LAST_WORDS = _wire.error("RuntimeError", "the cell ended, but its error could not be reported", None, "")
_RUN, _START, _FINISH = (f"__import__('_slm_cell').{name}(" for name in ("run", "start", "finish"))
_run_turn = None


class _Quitter:
    """`exit` and `quit`, which end the program; the session goes on with its next cell."""

    def __init__(self, name):
        self.__name__ = name

    def __repr__(self):
        return f"Use {self.__name__}() to end the program"

    def __call__(self, code=None):
        raise SystemExit(code)


def install():
    """Makes the interpreter ready for the snapshot. Once, after everything else has been imported."""
    global _main, _flags, _run_turn
    _main, _flags = vars(sys.modules["__main__"]), 0
    additions = {"display": _bundle.display, "input": _desktop.input}
    additions.update({name: _Quitter(name) for name in ("exit", "quit")})
    modules = ("__main__", "builtins", "sys", "ast", "linecache", "_reactor", "_host")
    modules += tuple(name for name in sys.modules if name.startswith("_slm_"))
    _world.install(additions, modules, _error.OURS)
    for function in (run, _world.leave, _wire.send, _error.report, _figures.show, _ipython.install, _loop.drive,
                     _desktop.input, _missing.message, _magic.parse):
        _error.hide(function)
    _figures.install()
    _ipython.install()
    # The module's own `turn` parses and compiles the host's line with names that cells can replace. Ours reads it.
    reactor = sys.modules.get("_reactor")
    if reactor is not None and hasattr(reactor, "_run_turn") and reactor._run_turn is not _turn:
        _run_turn, reactor._run_turn = reactor._run_turn, _turn


def rehearse(turn, rounds=40):
    """Runs sessions of our own through `turn`, the module's entry point, before the snapshot: the interpreter then has
    specialised the code that every session runs, and filled its caches. Puts everything back."""
    kept, argv = dict(_main), sys.argv
    for _ in range(rounds):
        turn(_START + '"{}")')
        for number, cell in enumerate(("", "print(1 + 1)", "x = [1]\\nx + x", "1 / 0"), 1):
            turn(f'{_RUN}"{cell}", {number})')
    _main.clear()
    _main.update(kept)
    sys.argv = argv
    _error.forget_all()
    for name in ("last_exc", "last_value", "last_type", "last_traceback"):
        _sys.pop(name, None)
    install()


def warm():
    """Runs a cell of our own in a session that is nobody's yet: what every cell writes to has been written then. The host
    drops what it prints."""
    run("print(1 + 1)", 0)
    _error.forget_all()


def start(settings):
    """Starts a session: `settings` is JSON, `argv` becomes sys.argv, `bind` holds texts for global variables, and
    `display` and `displays` are the bounds of one displayed object and of all of a cell, in bytes, `packages` a folder
    to import from besides the library."""
    settings = _decode(settings)
    _sys["argv"] = settings.get("argv", ["cell"])
    _main.update(settings.get("bind", {}))
    _bound(settings)
    if "packages" in settings:
        _world.add_packages(settings["packages"])
    _world.freshen()


def bound(settings):
    """Sets the bounds and the packages anew, in a session that has run: `settings` is JSON, as for `start`."""
    settings = _decode(settings)
    _bound(settings)
    if "packages" in settings:
        _world.add_packages(settings["packages"])


def _bound(settings):
    one = settings.get("display", _wire.DISPLAY)
    # What is more than all together is sure to be refused.
    _wire.DISPLAY = min(one, settings.get("displays", one))


def bind(texts):
    """Binds one more text to a global variable, in a session that has run: `texts` is JSON, name to text."""
    _main.update(_decode(texts))


def run(source, number):
    """Runs one cell in `__main__`. Returns when it succeeded, else raises SystemExit(1)."""
    failed = True
    try:
        failed = _run(source, f"<cell {number}>")
    except BaseException:
        _world.quiet()
        _wire.send(_LAST_WORDS)
        try:
            _world.leave(_main)
        except BaseException:
            pass
    if failed:
        raise SystemExit(1)


def finish():
    """Ends the session: runs the exit handlers, whose errors Python prints, and flushes what is open."""
    try:
        _world.enter(_main)
        _run_exit_handlers()
    except BaseException as exc:
        caught = exc
    else:
        caught = None
    for _ in range(3):
        try:
            _world.quiet()
            break
        except BaseException:
            continue
    if caught is not None:
        _print_exception("Error in atexit handlers:\n", caught)
    _world.leave(_main)


def _turn(text, name):
    """Stands in for the module's `_run_turn`: our three calls are read without `eval`, anything else goes on to it."""
    if text.startswith(_RUN + '"'):
        source, end = _scanstring(text, len(_RUN) + 1)
        run(source, int(text[end:].strip(",) ")))
    elif text.startswith(_START + '"'):
        start(_scanstring(text, len(_START) + 1)[0])
    elif text == _FINISH + ")":
        finish()
    else:
        _run_turn(text, name)


def _run(source, name):
    """Runs the cell, makes the interpreter pristine again, then reports. Says whether the cell failed."""
    caught = None
    try:
        _error.register(name, source)
        _world.enter(_main)
        _execute(source, name)
    except BaseException as exc:
        caught = exc
    if _figures.open_figures or _figures.shown:
        _figures.finish(drawing=type(caught) is not MemoryError)
    for _ in range(3):
        try:
            _world.quiet()
            break
        except BaseException:
            continue  # a trace or a profile function saw the call, and is removed because it raised
    try:
        if type(caught) is MemoryError:
            _world.release_ballast()
        _world.leave(_main)
        if caught is None:
            return False
        tb = _error.strip(caught)
        # A SystemExit that did not come out of this cell (an audit hook can raise it before the cell has begun) does
        # not make a success of it.
        if issubclass(type(caught), SystemExit) and tb is not None and tb.tb_frame.f_code.co_filename == name:
            return _exited(caught)
        _failed(caught, tb, name)
        return True
    finally:
        caught = tb = None  # the traceback leads to this frame, which would keep both alive


def _execute(source, name):
    try:
        body, last = _compiled(source, name)
    except MemoryError:
        # An earlier cell has filled the memory, and this one may be there to free it.
        _world.release_ballast()
        body, last = _compiled(source, name)
    flags = (0 if body is None else body.co_flags) | (0 if last is None else last.co_flags)
    if flags & _COROUTINE:
        value = _loop.drive(_awaited(body, last))
    else:
        if body is not None:
            exec(body, _main)
        value = None if last is None else eval(last, _main)
    if value is not None:
        # Where Python's own prompt keeps it: a global variable `_` of the cell's own stays untouched.
        _world.remember(value)
        frame = _bundle.result(value)
        if frame is not None:
            _wire.send(frame)


async def _awaited(body, last):
    """Runs a cell with a top-level `await`, in the event loop as a whole: what awaits nothing may need the loop too."""
    if body is not None:
        value = eval(body, _main)
        if body.co_flags & _COROUTINE:
            await value
    if last is None:
        return None
    value = eval(last, _main)
    return await value if last.co_flags & _COROUTINE else value


def _compiled(source, name):
    """The code of the cell's statements and of its last expression, each None where there is none."""
    global _flags
    tree = _parse(source, name)
    last = None
    if tree.body and type(tree.body[-1]) is _Expr and not _is_quiet(source, tree.body[-1]):
        last = tree.body.pop().value
    body = compile(tree, name, "exec", _flags | _AWAIT, True)
    flags = _flags | body.co_flags & _FUTURE
    # Before anything runs: a mistake in the last expression is a mistake in the cell.
    last = None if last is None else compile(_Expression(last), name, "eval", flags | _AWAIT, True)
    _flags = flags
    return body if tree.body else None, last


def _is_quiet(source, expression):
    """Whether a semicolon comes after the last expression, which in a notebook says that its value is not to be shown."""
    lines = str.split(source, "\n")
    if expression.end_lineno > len(lines):
        return False  # another text than this one was parsed
    rest = str.encode(lines[expression.end_lineno - 1], "utf-8", "replace")[expression.end_col_offset:]
    return bytes.startswith(bytes.lstrip(rest), b";")


def _parse(source, name):
    try:
        return compile(source, name, "exec", _flags | _ONLY_AST, True)
    except SyntaxError:
        pass  # a notebook's lines may be in it
    tree, notes = _magic.parse(source, name, _flags | _ONLY_AST)
    for note in notes:
        _world.write_error(note + "\n")
    return tree


def _exited(exc):
    """Reports a SystemExit as the process it would have ended, and says whether that is a failure."""
    try:
        code = exc.code
    except BaseException:
        code = 1
    if code is None:
        code = 0
    elif issubclass(type(code), int):
        # As CPython: what does not fit into a C int is -1.
        code = int.__index__(code) if int.__rshift__(code, 31) in (0, -1) else -1
    else:
        try:
            text = str(code)
        except BaseException:
            text = ""
        _in_cells_world(_world.write_error, text + "\n")
        code = 1
    _wire.send(_wire.exit(code))
    return code != 0


def _failed(exc, tb, name):
    _error.report(exc, name)
    if issubclass(type(exc), MemoryError):
        # The failed frames hold what filled the memory.
        _error.set_traceback(exc, None)
        _sys["last_exc"] = _sys["last_value"] = _sys["last_traceback"] = None
        _collect()
        return
    _sys["last_exc"] = _sys["last_value"] = exc
    _sys["last_type"], _sys["last_traceback"] = type(exc), tb
    hook = _sys.get("excepthook")
    if hook is not _excepthook and hook is not None:
        _in_cells_world(_call_hook, hook, exc, tb)


def _call_hook(hook, exc, tb):
    """Calls the cells' own sys.excepthook, as Python would. The frame has been sent: the hook only adds output."""
    try:
        hook(type(exc), exc, tb)
    except BaseException as wrong:
        _print_exception("Error in sys.excepthook:\n", wrong)


def _print_exception(heading, exc):
    _error.strip(exc)
    _world.write_error(heading + _error.text(exc))


def _in_cells_world(function, *args):
    """Calls what speaks through the cells' own streams and builtins."""
    _world.enter(_main)
    try:
        function(*args)
    finally:
        _world.quiet()
        _world.leave(_main)
