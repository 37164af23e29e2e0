"""Cells that change the interpreter under the driver: the report stays true, and the session usable."""

import builtins
import gc
import json
import sys

from guest import HOST, REACTOR, GuestCase


class Poison(GuestCase):
    def test_builtins_and_json(self):
        """The case S07."""
        kept = json.dumps
        self.addCleanup(setattr, json, "dumps", kept)
        self.assertOk("""
import builtins, sys, json
builtins.print = lambda *a, **k: None
builtins.len = lambda x: 42
builtins.open = lambda *a, **k: (_ for _ in ()).throw(OSError("poisoned"))
json.dumps = lambda *a, **k: '{"forged": true}'
sys.excepthook = lambda *a: None
sys.displayhook = lambda v: 1/0
""")
        json.dumps = kept
        error = self.assertFails("1 / 0", "ZeroDivisionError")
        self.assertEqual((error["line"], error["message"]), (1, "division by zero"))
        self.assertIn("    1 / 0\n", error["traceback"])
        self.assertEqual(self.result("len([])"), {"text/plain": "42"})
        self.assertIs(builtins.len, len)
        self.assertOk("print('swallowed')")
        self.assertEqual((self.written(1), self.written(2)), (b"", b""))
        self.assertOk("del builtins.len, builtins.print")
        self.assertFails("len([])", "NameError")
        self.assertEqual(len([]), 0)

    def test_every_builtin_gone(self):
        self.assertOk("import builtins\nlive = vars(builtins)\nkept = dict(live)")
        for value in ("None", "(lambda *a, **k: kept['int']('x'))"):
            with self.subTest(value):
                self.assertFails(f"for name in kept: live[name] = {value}\n1/0", "ZeroDivisionError")
                self.assertFails("1/0", "ZeroDivisionError")
                self.assertOk("x = 1")
                self.assertOk("live.update(kept)")
        self.assertOk("live.clear()")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertOk("x = 1")

    def test_modules_the_driver_stands_on(self):
        self.assertOk("import sys\nkept = dict(sys.modules)")
        self.assertFails("sys.modules.clear()\n1/0", "ZeroDivisionError")
        self.assertOk("x = 1")
        self.assertOk("sys.modules.update(kept)\nimport ast")
        for name in ("_slm_cell", "_reactor", "ast", "linecache", "builtins", "sys", "_host", "traceback"):
            with self.subTest(name):
                self.assertFails(f"sys.modules['{name}'] = None\n1/0", "ZeroDivisionError")
                self.assertOk("sys.modules.update(kept)")
        self.assertOk("kept = ast.parse, ast.Expr\nast.parse = ast.Expr = None")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertEqual(self.result("1"), {"text/plain": "1"})
        self.assertOk("ast.parse, ast.Expr = kept")

    def test_main_replaced(self):
        self.assertOk("import sys, types\nx = 1\nsys.modules['__main__'] = types.ModuleType('__main__')")
        self.assertEqual(self.result("x"), {"text/plain": "1"})
        self.assertIs(sys.modules["__main__"], self.main)
        self.assertOk("globals().clear()")
        self.assertOk("print('alive')")
        self.assertEqual(self.written(1), b"alive\n")

    def test_trace_and_profile_functions_end_with_their_cell(self):
        for name in ("settrace", "setprofile"):
            with self.subTest(name):
                self.assertOk(f"import sys\nseen = []\ndef spy(*a):\n    seen.append(a[1])\n    return spy\nsys.{name}(spy)")
                count = len(self.namespace["seen"])
                self.assertIsNone((sys.gettrace() or sys.getprofile()))
                self.assertOk("def f(): pass\nf()")
                self.assertEqual(len(self.namespace["seen"]), count)
                self.cell(f"def bad(*a): raise RuntimeError('hooked')\nsys.{name}(bad)")
                self.assertIsNone((sys.gettrace() or sys.getprofile()))
                self.assertFails(f"sys.{name}(bad)\nx = 1/0", "ZeroDivisionError" if name == "settrace" else "RuntimeError")
                self.assertOk("x = 1")

    def test_monitoring_ends_with_its_cell(self):
        if not hasattr(sys, "monitoring"):
            self.skipTest("no sys.monitoring before 3.12")
        self.addCleanup(sys.monitoring.free_tool_id, 3)
        self.assertOk("import sys\nm = sys.monitoring\nseen = []\nm.use_tool_id(3, 'spy')\n"
                      "m.register_callback(3, m.events.PY_START, lambda *a: seen.append(a))\n"
                      "m.set_events(3, m.events.PY_START)")
        self.assertEqual(sys.monitoring.get_events(3), 0)
        self.namespace["seen"].clear()
        self.assertOk("def f(): pass\nf()")
        self.assertEqual(self.namespace["seen"], [])

    def monitor(self, *events):
        """Cells that set up a monitoring callback `hook` for these events, and leave it on."""
        if not hasattr(sys, "monitoring"):
            self.skipTest("no sys.monitoring before 3.12")
        self.addCleanup(self.free_the_tool)
        names = ", ".join(f"m.events.{name}" for name in events)
        return ("import sys\nm = sys.monitoring\nif m.get_tool(3) is None: m.use_tool_id(3, 'spy')\n"
                f"for event in ({names},): m.register_callback(3, event, hook)\n"
                f"m.set_events(3, sum(({names},)))\n")

    def free_the_tool(self):
        if sys.monitoring.get_tool(3) is not None:
            sys.monitoring.free_tool_id(3)

    def test_monitoring_callbacks_that_raise_end_with_their_cell(self):
        local = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "CALL", "LINE", "INSTRUCTION", "JUMP")
        for events in [(name,) for name in local] + [("RAISE",), ("PY_UNWIND",), ("EXCEPTION_HANDLED",), local]:
            with self.subTest(events):
                armed = self.monitor(*events)
                self.cell("def hook(*a): raise SystemExit(0)\n" + armed)
                self.assertEqual(sys.monitoring.get_events(3), 0)
                self.assertOk("def f(): return 1\nx = f()")
                self.assertEqual(self.result("x"), {"text/plain": "1"})
                self.assertFails("1 / 0", "ZeroDivisionError")
                for function in ("_slm_cell._run", "_slm_world.leave", "_slm_wire.send"):
                    name, attribute = function.split(".")
                    self.cell(f"m.set_local_events(3, sys.modules['{name}'].{attribute}.__code__, m.events.LINE)")
                    self.assertOk("x = f()")
                self.free_the_tool()

    def test_a_monitoring_callback_is_called_in_its_cell_and_given_back(self):
        armed = self.monitor("PY_START")
        self.assertOk("seen = []\ndef hook(code, offset): seen.append(code.co_name)\n" + armed + "def f(): pass\nx = f()")
        self.assertEqual(self.namespace["seen"], ["f"])
        self.assertOk("again = m.register_callback(3, m.events.PY_START, None), m.register_callback(3, 1, None)")
        self.assertEqual(self.namespace["again"], (self.namespace["hook"], None))
        self.assertFails("m.register_callback(3, 'x', hook)", "TypeError")
        error = self.assertFails("def hook(*a): 1 / 0\n" + armed + "f()", "ZeroDivisionError")
        self.assertNotIn("_slm_", error["traceback"])

    def test_trace_and_profile_functions_that_raise_together(self):
        self.cell("import sys, threading\ndef bad(*a): raise SystemExit(0)\n"
                  "threading.setprofile(bad)\nthreading.settrace(bad)\nfor f in sys.settrace, sys.setprofile: f(bad)")
        self.addCleanup(__import__("threading").setprofile, None)
        self.addCleanup(__import__("threading").settrace, None)
        self.assertIsNone(sys.gettrace() or sys.getprofile())
        self.assertOk("x = 1")
        self.assertFails("1 / 0", "ZeroDivisionError")

    def test_hooks_that_raise_only_in_the_driver(self):
        for name in ("settrace", "setprofile"):
            with self.subTest(name):
                self.cell("import sys\ndef bad(frame, event, arg):\n"
                          "    if '_slm_' in frame.f_code.co_filename: raise SystemExit(0)\n    return bad\n"
                          f"sys._getframe(1).f_trace = bad\nsys.{name}(bad)")
                self.assertIsNone(sys.gettrace() or sys.getprofile())
                self.assertOk("x = 1")
                self.assertFails("1 / 0", "ZeroDivisionError")

    def test_exit_handlers_that_leave_hooks(self):
        self.assertOk("import atexit, sys\ndef bad(*a): raise SystemExit(3)\n"
                      "@atexit.register\ndef arm():\n    sys.settrace(bad)\n    sys.setprofile(bad)")
        self.assertEqual(self.finish(), 0)
        self.assertIsNone(sys.gettrace() or sys.getprofile())

    def test_what_the_collector_calls_waits_for_the_next_cell(self):
        self.addCleanup(gc.callbacks.clear)
        self.assertOk("import gc\nseen = []\ndef good(phase, info): seen.append(phase)\n"
                      "def bad(phase, info): raise SystemExit(0)\ngc.callbacks += [good, bad, 5]\ngc.collect()")
        self.assertEqual(self.namespace["seen"], ["start", "stop"])
        self.written(2)
        gc.collect()
        self.assertEqual((len(self.namespace["seen"]), self.written(2)), (2, b""), "nothing between cells")
        self.assertOk("x = 1")
        self.assertOk("gc.callbacks[:] = gc.callbacks[:1]\ngc.collect()")
        self.assertEqual(self.namespace["seen"][2:], ["start", "stop"])
        self.assertFails("1 / 0", "ZeroDivisionError")
        self.assertOk("del gc.callbacks[:]")
        self.assertOk("assert gc.callbacks == []")

    def test_a_hook_that_raises_everywhere_still_ends_in_a_failure(self):
        """Not a name the driver looks up, but a failure inside the driver itself."""
        import _slm_world
        kept, _slm_world.leave = _slm_world.leave, None
        try:
            status, frames = self.cell("1")
        finally:
            _slm_world.leave = kept
        self.assertEqual(status, 1)
        self.assertEqual([f["kind"] for f in frames], ["result", "error"])
        self.assertOk("x = 1")

    def test_an_exit_that_comes_before_the_cell_is_no_success(self):
        self.assertOk("armed = [1]\ndef hook(event, args):\n    if event == 'compile' and armed: raise SystemExit(0)\n"
                      "import sys\nsys.addaudithook(hook)")
        try:
            error = self.assertFails("1/0", "SystemExit")
            self.assertIsNone(error["line"])
        finally:
            self.namespace["armed"].clear()
        self.assertOk("x = 1")

    def test_forged_frames_do_not_change_what_turn_returns(self):
        status, frames = self.cell("import _host\n_host.call(b'{\"kind\":\"exit\",\"code\":0}')\n"
                                   "_host.call = lambda frame: 1/0\n1/0")
        HOST.call = type(self)._call
        self.assertEqual(status, 1)
        self.assertEqual([f["kind"] for f in frames], ["exit", "error"])

    _call = staticmethod(HOST.call)

    def test_other_lines_of_the_host_go_to_the_module_itself(self):
        self.assertEqual(self.turn("x = 5"), 0)
        self.assertEqual(self.namespace["x"], 5)
        self.assertEqual(self.turn("raise SystemExit(3)"), 3)
        self.assertIn("_turn", repr(REACTOR._run_turn))


class PoisonWithoutTakingOver(Poison):
    """What the pristine world achieves alone. The module's own `_run_turn` still stands on the modules it imports and
    on hooks that see its `compile`: the reason for taking over."""

    takes_over = False
    test_modules_the_driver_stands_on = None
    test_an_exit_that_comes_before_the_cell_is_no_success = None
