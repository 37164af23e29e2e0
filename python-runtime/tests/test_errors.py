"""Uncaught exceptions: type, message, line, traceback, within bounds."""

import sys

from guest import HOST, GuestCase, _slm_error, _slm_wire


class Errors(GuestCase):
    def test_three_functions_deep(self):
        error = self.assertFails("def f():\n    g()\ndef g():\n    h()\ndef h():\n    return 1 / 0\n\nf()\n",
                                 "ZeroDivisionError")
        self.assertEqual((error["message"], error["line"]), ("division by zero", 6))
        self.assertEqual(error["traceback"].count('File "<cell 1>"'), 4)
        self.assertIn("    return 1 / 0\n", error["traceback"])
        self.assertTrue(error["traceback"].startswith('Traceback (most recent call last):\n  File "<cell 1>", line 8'))
        self.assertTrue(error["traceback"].endswith("ZeroDivisionError: division by zero\n"))
        self.assertNotIn("_slm", error["traceback"])
        self.assertEqual((self.written(1), self.written(2)), (b"", b""))

    def test_the_line_is_in_the_current_cell(self):
        self.assertOk("def broken():\n\n\n    raise KeyError('k')")
        error = self.assertFails("x = 1\nbroken()", "KeyError")
        self.assertEqual((error["line"], error["message"]), (2, "'k'"))
        self.assertIn('File "<cell 1>", line 4, in broken\n    raise KeyError', error["traceback"])
        error = self.assertFails("import json\n\njson.loads('{')", "JSONDecodeError")
        self.assertEqual(error["line"], 3)

    def test_syntax_errors(self):
        error = self.assertFails("x = 1\nif x\n    pass", "SyntaxError")
        self.assertEqual((error["message"], error["line"]), ("expected ':'", 2))
        self.assertEqual(error["traceback"], '  File "<cell 1>", line 2\n    if x\n        ^\nSyntaxError: expected \':\'\n')
        # Found by the compiler's later passes, which do not know the text.
        error = self.assertFails("x = 1\nreturn x", "SyntaxError")
        self.assertEqual(error["line"], 2)
        self.assertIn("    return x\n", error["traceback"])
        self.assertFails("  x", "IndentationError")
        error = self.assertFails("x = 1\ny = 2\neval('1 +')", "SyntaxError")
        self.assertEqual(error["line"], 3)
        self.assertIn('File "<string>", line 1', error["traceback"])
        self.assertEqual(self.assertFails("raise SyntaxError", "SyntaxError")["message"], "None")
        self.assertFails("raise SyntaxError('m', ('<cell 7>', 'x', 1, 'text'))", "SyntaxError")
        self.assertFails("def f(): await thing()", "SyntaxError")

    def test_chains_groups_and_notes(self):
        error = self.assertFails("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('v') from e",
                                 "ValueError")
        self.assertEqual(error["line"], 4)
        self.assertIn("The above exception was the direct cause", error["traceback"])
        error = self.assertFails("try:\n    1/0\nfinally:\n    [][1]", "IndexError")
        self.assertIn("During handling of the above exception", error["traceback"])
        error = self.assertFails("e = ExceptionGroup('g', [ValueError('a'), KeyError('b')])\n"
                                 "e.add_note('a note')\nraise e", "ExceptionGroup")
        self.assertEqual(error["message"], "g (2 sub-exceptions)")
        for text in ("a note", "ValueError: a", "KeyError: 'b'"):
            self.assertIn(text, error["traceback"])

    def test_types_messages_and_other_base_exceptions(self):
        self.assertFails("raise KeyboardInterrupt", "KeyboardInterrupt")
        self.assertFails("raise GeneratorExit", "GeneratorExit")
        self.assertFails("class Mine(Exception): pass\nraise Mine", "Mine")
        error = self.assertFails("class M(type):\n    __name__ = property(lambda c: 1/0)\n"
                                 "class E(Exception, metaclass=M): pass\nraise E('m')", "E")
        self.assertEqual(error["message"], "m")

    def test_hostile_exceptions(self):
        error = self.assertFails("class E(Exception):\n    def __str__(s): raise SystemExit(0)\nraise E", "E")
        self.assertEqual(error["message"], "<exception str() failed>")
        self.assertFails("class E(Exception):\n    def __str__(s): return str(s)\nraise E", "E")
        self.assertFails("class E(Exception):\n    __traceback__ = property(lambda s: 1/0)\n"
                         "    __cause__ = __context__ = __traceback__\nraise E('m')", "E")
        self.assertFails("class E(Exception):\n    def __getattribute__(s, n): raise KeyboardInterrupt\nraise E", "E")
        self.assertFails("class E(SyntaxError):\n    msg = lineno = filename = text = property(lambda s: 1/0)\n"
                         "raise E('m')", "E")
        self.assertFails("class S(str):\n    def encode(s, *a): 1/0\n    def __str__(s): return 1\n"
                         "    def __len__(s): return -1\nraise ValueError(S('m'))", "ValueError")
        error = self.assertFails("e = ValueError('loop')\ne.__cause__ = e\nraise e", "ValueError")
        self.assertIn("ValueError: loop", error["traceback"])

    def test_recursion_and_a_stack_nearly_used_up(self):
        error = self.assertFails("def f():\n    f()\nf()", "RecursionError")
        self.assertEqual(error["line"], 2)
        self.assertIn("[Previous line repeated", error["traceback"])
        self.assertFails("import sys\ndef f(n):\n    try:\n        f(n + 1)\n    except RecursionError:\n"
                         "        sys.setrecursionlimit(n + 20)\n        raise\nf(0)", "RecursionError")
        self.assertFails("import inspect\nsys.setrecursionlimit(len(inspect.stack()) + 2)\nf(0)", "RecursionError")
        self.assertEqual(self.result("1"), {"text/plain": "1"})
        self.assertGreaterEqual(sys.getrecursionlimit(), 1000)

    def test_no_memory(self):
        error = self.assertFails("big = 1\nraise MemoryError", "MemoryError")
        self.assertEqual((error["line"], error["message"]), (2, ""))
        self.assertIsNone(sys.last_exc)
        self.assertEqual(self.result("1"), {"text/plain": "1"})

    def test_the_failed_frames_of_a_memory_error_are_let_go(self):
        self.assertFails("import weakref\nclass Big: pass\ndef f():\n    local = Big()\n"
                         "    global ref\n    ref = weakref.ref(local)\n    raise MemoryError\nf()", "MemoryError")
        self.assertIsNone(self.namespace["ref"]())

    def test_the_last_exception_is_kept_as_python_does_without_our_frames(self):
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertEqual(sys.last_exc.__traceback__.tb_frame.f_code.co_filename, "<cell 1>")
        self.assertIs(sys.last_value, sys.last_exc)

    def test_frames_of_a_misused_display_are_not_shown(self):
        error = self.assertFails("display(*5)", "TypeError")
        self.assertNotIn("_slm", error["traceback"])
        HOST.refuse = True
        self.assertEqual(self.cell("display(5)"), (1, []))
        HOST.refuse = False
        error = self.assertFails("import sys\nraise sys.last_exc", "RuntimeError")
        self.assertNotIn("_slm", error["traceback"])

    def test_bounds(self):
        error = self.assertFails("raise ValueError('E' * (20 << 20))", "ValueError")
        self.assertLessEqual(len(error["message"].encode()), _slm_wire.MESSAGE)
        self.assertRegex(error["message"], r"E… \(\d+ more characters\)$")
        kept = error["message"].index("…")
        self.assertIn(f"({(20 << 20) - kept} more characters)", error["message"])
        self.assertLessEqual(len(error["traceback"].encode()), _slm_wire.TRACEBACK)
        self.assertTrue(error["traceback"].startswith("Traceback"))
        self.assertIn("more characters) …\n", error["traceback"])
        for text in ("'\\x00' * 9_000_000", "'\\ud800' * 100_000", "'🐸' * 100_000", "'\"' * 16384", "'ж' * 8192"):
            with self.subTest(text):
                error = self.assertFails(f"raise ValueError({text})", "ValueError")
                self.assertLessEqual(len(error["message"].encode()), _slm_wire.MESSAGE)
                self.assertLessEqual(len(HOST.frames[0]), _slm_wire.FRAME)
        error = self.assertFails("raise type('T' * 5000, (Exception,), {})", "T" * 192 + "… (4808 more characters)")

    def test_lone_surrogates_become_replacement_characters(self):
        error = self.assertFails("raise ValueError('a\\ud800b')", "ValueError")
        self.assertEqual(error["message"], "a\ufffdb")
        self.assertIn("ValueError: a\ufffdb", error["traceback"])

    def test_a_host_that_refuses_frames_still_sees_the_failure(self):
        HOST.refuse = True
        self.assertEqual(self.cell("1/0"), (1, []))
        self.assertEqual(self.cell("1"), (0, []))
        self.assertEqual(self.cell("raise SystemExit(4)"), (1, []))

    def test_own_excepthook_is_called_as_python_would(self):
        self.assertOk("import sys\nsys.excepthook = lambda t, e, tb: print('hook:', e, tb.tb_frame.f_code.co_filename)")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertEqual((self.written(1), self.written(2)), (b"hook: division by zero <cell 2>\n", b""))
        self.assertOk("def hook(*a): raise SystemExit(0)\nsys.excepthook = hook")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertTrue(self.written(2).startswith(b"Error in sys.excepthook:\nTraceback"))
        self.assertOk("sys.excepthook = None")
        self.assertFails("1/0", "ZeroDivisionError")
        self.assertOk("del sys.excepthook")
        self.assertFails("1/0", "ZeroDivisionError")


class PlainTraceback(GuestCase):
    """The report when the modules that tracebacks stand on were changed."""

    def test_traceback_module_changed(self):
        source = "import traceback\nkept = traceback.StackSummary\ntraceback.StackSummary = None\n1/0"
        error = self.assertFails(source, "ZeroDivisionError")
        sys.modules["traceback"].StackSummary = self.namespace["kept"]
        self.assertEqual(error["traceback"], 'Traceback (most recent call last):\n  File "<cell 1>", line 4, in <module>\n'
                                             "    1/0\nZeroDivisionError: division by zero\n")
        self.assertEqual((error["line"], error["message"]), (4, "division by zero"))

    def test_linecache_changed(self):
        import linecache
        kept = linecache.cache
        try:
            error = self.assertFails("import linecache\nlinecache.cache = None\n1/0", "ZeroDivisionError")
            self.assertIn("    1/0\n", error["traceback"])
            self.assertFails("2/0", "ZeroDivisionError")
        finally:
            linecache.cache = kept
        self.assertOk("linecache.clearcache()")
        self.assertIn("    3/0\n", self.assertFails("3/0", "ZeroDivisionError")["traceback"])

    def test_many_frames(self):
        source = "def f(n):\n    g(n)\ndef g(n):\n    f(n - 1) if n else 1/0\nimport traceback\n" \
                 "kept = traceback.StackSummary\ntraceback.StackSummary = None\nf(100)"
        error = self.assertFails(source, "ZeroDivisionError")
        sys.modules["traceback"].StackSummary = self.namespace["kept"]
        self.assertEqual(error["traceback"].count("File"), _slm_error._FRAMES)
        self.assertIn("  …\n", error["traceback"])
