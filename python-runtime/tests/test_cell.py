"""Cells: results, exits, the namespace, the session's start and end."""

import atexit
import builtins
import dis
import json
import linecache
import logging
import os
import pathlib
import random
import sys
import tempfile
import types

from guest import HOST, GuestCase, _slm_bundle, _slm_cell, _slm_error, _slm_wire, _slm_world


class Results(GuestCase):
    def test_last_expression_is_the_result(self):
        self.assertEqual(self.result("x = 20\nx + 1"), {"text/plain": "21"})
        self.assertEqual(self.namespace["x"], 20)

    def test_none_and_statements_send_nothing(self):
        for source in ("None", "x = 1", "", "# only a comment", "print", "if 1:\n    5", "def f(): 3"):
            with self.subTest(source):
                frames = self.assertOk(source)
                self.assertEqual([f["kind"] for f in frames], ["result"] if source == "print" else [])

    def test_a_semicolon_after_it_shows_nothing(self):
        for source in ("1;", "1 ; # quiet", "(1);", "x = 1; x;", "'é';", "'''a\nb''';", "%matplotlib inline\n1;"):
            with self.subTest(source):
                self.assertEqual(self.assertOk(source), [])
        for source in ("1", "1 # ;", "';'", "x = 1; x", "(1)\n# ;", "[1,\n2] # ;"):
            with self.subTest(source):
                self.assertEqual([f["kind"] for f in self.assertOk(source)], ["result"])

    def test_underscore_is_the_latest_result_and_never_in_the_way(self):
        self.assertOk("6 * 7")
        self.assertEqual(self.result("_ + 1"), {"text/plain": "43"})
        self.assertOk("for _ in range(3): pass")
        self.assertOk("5")
        self.assertEqual(self.result("_"), {"text/plain": "2"})
        self.assertEqual(self.namespace["_"], 2)

    def test_a_mistake_in_the_last_expression_stops_the_whole_cell(self):
        self.assertFails("print('ran')\nyield 5", "SyntaxError")
        self.assertEqual(self.written(1), b"")

    def test_unicode_line_endings_and_odd_sources(self):
        self.assertEqual(self.result("s = 'жаба 🐸'\r\ns"), {"text/plain": "'жаба 🐸'"})
        self.assertEqual(self.result("'''a\u2028b\x0cc'''"), {"text/plain": repr("a\u2028b\x0cc")})
        self.assertFails("x = 1\x00", "SyntaxError")

    def test_future_statements_hold_for_later_cells_and_not_for_earlier(self):
        self.assertOk("def f(x: Missing_name if False else int): pass")
        self.assertOk("from __future__ import annotations")
        self.assertOk("def g(x: Missing_name): pass")
        self.assertEqual(self.result("g.__annotations__"), {"text/plain": "{'x': 'Missing_name'}"})
        self.assertEqual(self.result("f.__annotations__"), {"text/plain": "{'x': <class 'int'>}"})

    def test_one_functions_cells_see_each_others_names(self):
        self.assertOk("def f(): return later")
        self.assertOk("later = 'found'")
        self.assertEqual(self.result("f()"), {"text/plain": "'found'"})


class Namespace(GuestCase):
    def test_main_holds_what_a_script_has(self):
        self.start(argv=["cell", "a", "ä"], bind={"user_input": "text"})
        self.assertOk("import sys\nseen = sorted(globals()), sys.argv, __name__, '__file__' in globals()")
        names, argv, name, file = self.namespace["seen"]
        self.assertEqual(set(names) - set(vars(types.ModuleType("m"))), {"__builtins__", "sys", "user_input"})
        self.assertEqual((argv, name, file), (["cell", "a", "ä"], "__main__", False))
        self.assertIs(self.namespace["__builtins__"], builtins)

    def test_deleted_builtins_come_back_as_the_real_ones(self):
        self.assertOk("del __builtins__")
        self.assertOk("b = __builtins__")
        self.assertIs(self.namespace["b"], builtins)

    def test_packages_come_after_the_library_and_before_scratch(self):
        library = sys.path[:-1]
        self.start(packages="/packages")
        self.assertEqual(sys.path, library + ["/packages", "/work"])
        sys.path_importer_cache["/packages"] = "what another session found"
        settings = json.dumps(json.dumps({"packages": "/packages"}))
        self.assertEqual(self.turn(f"__import__('_slm_cell').bound({settings})"), 0)
        self.assertEqual(sys.path, library + ["/packages", "/work"])
        self.assertNotIn("/packages", sys.path_importer_cache)
        self.assertOk("import sys\ndel sys.path[:]")
        self.assertEqual(self.turn(f"__import__('_slm_cell').bound({settings})"), 0)
        self.assertEqual(sys.path, ["/packages"])

    def test_scratch_is_last_on_the_path_and_gets_no_bytecode(self):
        self.assertEqual(sys.path[-1], "/work")
        self.assertEqual([p for p in sys.path[:-1] if p in ("", ".", "/work")], [])
        self.assertTrue(sys.dont_write_bytecode)

    def test_getsource_finds_functions_of_earlier_cells(self):
        self.assertOk("def f():\n    return 1  # here\n")
        self.assertOk("import linecache; linecache.checkcache()")
        self.assertEqual(self.result("import inspect\ninspect.getsource(f)")["text/plain"],
                         repr("def f():\n    return 1  # here\n"))

    def test_sources_are_kept_within_a_bound(self):
        for _ in range(_slm_error._KEPT + 20):
            self.assertOk("1")
        self.assertEqual(len(_slm_error.SOURCES), _slm_error._KEPT)
        for _ in range(6):
            self.assertOk("#" + "x" * (1 << 20))
        self.assertLessEqual(_slm_error._characters, _slm_error._KEPT_CHARACTERS)
        self.assertEqual(_slm_error._characters, sum(map(_slm_error._size, _slm_error.SOURCES)))


class Exits(GuestCase):
    def check(self, source, code):
        status, frames = self.cell(source)
        self.assertEqual(frames, [{"kind": "exit", "code": code}])
        self.assertEqual(status, 1 if code else 0)

    def test_codes(self):
        for source, code in (
            ("import sys; sys.exit()", 0), ("import sys; sys.exit(0)", 0), ("import sys; sys.exit(3)", 3),
            ("exit(5)", 5), ("quit()", 0), ("raise SystemExit(-1)", -1), ("raise SystemExit(257)", 257),
            ("raise SystemExit(256)", 256), ("raise SystemExit(True)", 1), ("raise SystemExit(2**70)", -1),
            ("raise SystemExit(-2**31)", -(2**31)), ("raise SystemExit", 0),
            ("class C(int):\n    def __and__(s, o): return 0\nraise SystemExit(C(7))", 7),
            ("class E(SystemExit):\n    code = property(lambda s: 1/0)\nraise E()", 1),
        ):
            with self.subTest(source):
                self.check(source, code)
                self.assertEqual((self.written(1), self.written(2)), (b"", b""))
        self.assertEqual(self.result("'alive'"), {"text/plain": "'alive'"})

    def test_a_text_goes_to_stderr(self):
        self.check("raise SystemExit('text means 1')", 1)
        self.assertEqual(self.written(2), b"text means 1\n")
        self.check("raise SystemExit(('a', 1))", 1)
        self.assertEqual(self.written(2), b"('a', 1)\n")
        self.check("class H:\n    def __str__(s): raise KeyboardInterrupt\nraise SystemExit(H())", 1)
        self.check("import sys, io\nsys.stderr = io.StringIO()\nraise SystemExit('mine')", 1)
        self.assertEqual(self.result("sys.stderr.getvalue()"), {"text/plain": r"'mine\n'"})

    def test_in_a_group_it_is_an_ordinary_error(self):
        self.assertFails("raise BaseExceptionGroup('g', [SystemExit(3)])", "BaseExceptionGroup")


class SessionEnds(GuestCase):
    def test_start_makes_random_fresh(self):
        random.seed(7)
        frozen = random.getstate()
        self.start()
        first = random.random()
        random.setstate(frozen)
        self.start()
        self.assertNotEqual(first, random.random())

    def test_start_makes_log_times_fresh(self):
        logging._startTime, kept = type(logging._startTime)(0), logging._startTime
        self.addCleanup(setattr, logging, "_startTime", kept)
        self.start()
        self.assertGreater(logging._startTime, 0)
        self.assertIs(type(logging._startTime), type(kept))

    def test_the_snapshot_holds_no_generator_of_temporary_names(self):
        tempfile._get_candidate_names()
        _slm_cell.install()
        self.assertIsNone(tempfile._name_sequence)

    def test_known_states_of_generators_are_filled_in_place(self):
        states = bytearray(16), bytearray(16)
        self.addCleanup(_slm_world.twisters.clear)
        _slm_world.twisters[:] = map(memoryview, states)
        drawn = random.getstate()
        self.start()
        first = bytes(states[0]), bytes(states[1])
        self.start()
        self.assertEqual(len({*first, bytes(states[0]), bytes(states[1])}), 4)
        self.assertEqual(random.getstate(), drawn)

    def test_a_rehearsal_leaves_no_trace(self):
        before = dict(self.namespace), list(sys.argv), dict(linecache.cache), set(vars(sys)), list(vars(builtins))
        _slm_cell.rehearse(self.turn, 2)
        after = dict(self.namespace), list(sys.argv), dict(linecache.cache), set(vars(sys)), list(vars(builtins))
        self.assertEqual(after, before)
        kinds = [json.loads(frame)["kind"] for frame in HOST.frames]
        self.assertEqual(kinds, ["result", "error"] * 2)
        self.assertEqual(self.written(1), b"2\n2\n")
        self.assertEqual(self.result("1 + 1"), {"text/plain": "2"})

    def test_finish_runs_exit_handlers_last_first_and_goes_on_after_errors(self):
        atexit._clear()  # the test runner's own
        self.assertOk("import atexit\natexit.register(print, 'first')\natexit.register(lambda: 1/0)\n"
                      "atexit.register(print, 'last')")
        self.assertEqual(self.finish(), 0)
        self.assertEqual(self.written(1), b"last\nfirst\n")
        self.assertIn(b"ZeroDivisionError", self.written(2))
        self.assertEqual(self.finish(), 0)
        self.assertEqual(self.written(1), b"")


class ReactorsOwnTurn(Results):
    """The same when the module's own `_run_turn` evaluates the host's line."""

    takes_over = False


class Purity(GuestCase):
    MODULES = (_slm_bundle, _slm_cell, _slm_error, _slm_wire, _slm_world)

    def functions(self):
        for module in self.MODULES:
            for value in vars(module).values():
                for function in [value] + (list(vars(value).values()) if isinstance(value, type) else []):
                    if isinstance(function, types.FunctionType) and function.__globals__ is vars(module):
                        yield function

    def test_no_function_of_the_driver_sees_the_builtins_that_cells_can_replace(self):
        functions = list(self.functions())
        self.assertGreater(len(functions), 40)
        for function in functions:
            self.assertIs(function.__builtins__, _slm_wire.PRISTINE, function)

    def test_nothing_is_imported_while_cells_run(self):
        for function in self.functions():
            todo = [function.__code__]
            while todo:
                code = todo.pop()
                todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
                names = {i.opname for i in dis.get_instructions(code)}
                self.assertFalse(names & {"IMPORT_NAME", "IMPORT_FROM"}, function)


class GoldenFrames(GuestCase):
    """tests/wire/*.json at the top of the repository, which the host's decoder is tested with too."""

    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "wire"

    def test_frames_are_as_recorded(self):
        files = sorted(self.FOLDER.glob("*.json"))
        self.assertGreaterEqual(len(files), 10)
        for file in files:
            with self.subTest(file.name):
                golden = json.loads(file.read_text("utf-8"))
                self.number = 0
                status, _ = self.cell(golden["cell"])
                frames = [frame.decode() for frame in HOST.frames]
                if os.environ.get("REGENERATE"):
                    golden = {"cell": golden["cell"], "frames": frames, "turn": status}
                    file.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", "utf-8")
                self.assertEqual((frames, status), (golden["frames"], golden["turn"]))
