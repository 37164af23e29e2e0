"""Cells that change the interpreter under the driver: the report stays true, and the session usable."""

import builtins
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
