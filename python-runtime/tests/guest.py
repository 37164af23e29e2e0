"""A guest without wasm: the module's entry point as it is in Python, a host that keeps the frames, real descriptors.

`turn` here follows the wheel's `_reactor.turn` statement by statement (read from its bytecode), flaws included: what
it looks up by names that a cell can replace is looked up so here too.
"""

import builtins
import json
import linecache
import os
import pathlib
import sys
import tempfile
import types
import unittest

RUNTIME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(RUNTIME))


class Host(types.ModuleType):
    def __init__(self):
        super().__init__("_host")
        self.frames, self.refuse = [], False
        host = self

        def call(frame):
            if host.refuse:
                raise OSError("refused")
            host.frames.append(bytes(frame))
            return b""

        self.call = call


HOST = sys.modules["_host"] = Host()

REACTOR = types.ModuleType("_reactor")
exec(
    compile(
        '''
import sys
_turns = 0

def _exit_code(exc):
    code = exc.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 255
    print(code, file=sys.stderr)
    return 1

def _report(exc):
    sys.excepthook(type(exc), exc, exc.__traceback__)

def _run_turn(text, name):
    import ast
    import linecache
    tree = ast.parse(text, name, "exec")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    code = compile(tree, name, "exec")
    main = sys.modules["__main__"].__dict__
    exec(code, main)
    if last is not None:
        expr = compile(last, name, "eval")
        sys.displayhook(eval(expr, main))

def turn(source):
    global _turns
    status = 0
    try:
        _turns += 1
        _run_turn(source.decode("utf-8"), f"<turn {_turns}>")
    except SystemExit as exc:
        status = _exit_code(exc)
    except BaseException as exc:
        _report(exc)
        sys.last_exc = exc
        status = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
    return status
''',
        "<reactor>",
        "exec",
    ),
    vars(REACTOR),
)
sys.modules["_reactor"] = REACTOR
ORIGINAL_RUN_TURN = REACTOR._run_turn

import _slm_bundle  # noqa: E402
import _slm_cell  # noqa: E402
import _slm_error  # noqa: E402
import _slm_figures  # noqa: E402
import _slm_ipython  # noqa: E402
import _slm_wire  # noqa: E402
import _slm_world  # noqa: E402

_BUILTINS = dict(vars(builtins))
_PRISTINE = dict(_slm_wire.PRISTINE)


class GuestCase(unittest.TestCase):
    """Each test has a fresh session; what it does to the interpreter is undone."""

    takes_over = True
    maxDiff = None

    def setUp(self):
        self._saved = {name: sys.__dict__[name] for name in (
            "stdout", "stderr", "__stdout__", "__stderr__", "excepthook", "displayhook", "argv", "dont_write_bytecode")}
        self._path, self._modules, self._limit = list(sys.path), dict(sys.modules), sys.getrecursionlimit()
        self._linecache = dict(linecache.cache)
        self._descriptors = []
        for fd in (1, 2):
            kept, file = os.dup(fd), tempfile.TemporaryFile()
            os.dup2(file.fileno(), fd)
            self._descriptors.append((fd, kept, file))
        self.addCleanup(self._restore)
        HOST.frames.clear()
        HOST.refuse = False
        self.main = types.ModuleType("__main__")
        self.namespace = vars(self.main)
        sys.modules["__main__"] = self.main
        REACTOR._run_turn = ORIGINAL_RUN_TURN
        _slm_error.SOURCES.clear()
        _slm_error._characters = 0
        _slm_cell.install()
        if not self.takes_over:
            REACTOR._run_turn = ORIGINAL_RUN_TURN
        self.number = 0
        self._read = {1: 0, 2: 0}

    def _restore(self):
        sys.settrace(None)
        sys.setprofile(None)
        sys.setrecursionlimit(self._limit)
        for name in list(vars(builtins)):
            if name not in _BUILTINS:
                del vars(builtins)[name]
        vars(builtins).update(_BUILTINS)
        _slm_wire.PRISTINE.clear()
        _slm_wire.PRISTINE.update(_PRISTINE)
        vars(sys).update(self._saved)
        sys.path[:] = self._path
        for name in list(sys.modules):
            if name not in self._modules:
                del sys.modules[name]
        sys.modules.update(self._modules)
        linecache.cache.clear()
        linecache.cache.update(self._linecache)
        for name in ("last_exc", "last_type", "last_value", "last_traceback"):
            sys.__dict__.pop(name, None)
        for fd, kept, file in self._descriptors:
            os.dup2(kept, fd)
            os.close(kept)
            file.close()

    def turn(self, code):
        return REACTOR.turn(code.encode())

    def start(self, **settings):
        text = json.dumps(json.dumps({"argv": ["cell"], "bind": {}} | settings))
        self.assertEqual(self.turn(f"__import__('_slm_cell').start({text})"), 0)

    def cell(self, source):
        """Runs a cell and returns what `turn` returned and the decoded frames."""
        self.number += 1
        del HOST.frames[:]
        literal = json.dumps(source, ensure_ascii=False)
        status = self.turn(f"__import__('_slm_cell').run({literal}, {self.number})")
        return status, [json.loads(frame.decode()) for frame in HOST.frames]

    def finish(self):
        return self.turn("__import__('_slm_cell').finish()")

    def written(self, fd):
        """What reached the descriptor since the last call."""
        file = next(file for number, _, file in self._descriptors if number == fd)
        data = os.pread(file.fileno(), 1 << 24, self._read[fd])
        self._read[fd] += len(data)
        return data

    def assertOk(self, source):
        status, frames = self.cell(source)
        self.assertEqual((status, [f for f in frames if f["kind"] == "error"]), (0, []))
        return frames

    def assertFails(self, source, kind):
        """The cell fails: `turn` says so, one error frame names it, nothing is printed about it."""
        status, frames = self.cell(source)
        errors = [f for f in frames if f["kind"] == "error"]
        self.assertEqual((status, [e["type"] for e in errors]), (1, [kind]), errors)
        return errors[0]

    def result(self, source):
        frames = self.assertOk(source)
        self.assertEqual([f["kind"] for f in frames], ["result"])
        return frames[0]["data"]
