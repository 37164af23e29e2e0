"""Modules that are not here."""

import _frozen_importlib as machinery
import builtins
import importlib
import importlib.util
import io
import sys
import traceback

import _slm_missing
from guest import GuestCase


class Missing(GuestCase):
    def setUp(self):
        super().setUp()
        find, init = machinery._find_spec, traceback.TracebackException.__init__
        self.addCleanup(setattr, machinery, "_find_spec", find)
        self.addCleanup(setattr, traceback.TracebackException, "__init__", init)
        _slm_missing.install()

    def refused(self, name):
        with self.assertRaises(ModuleNotFoundError) as caught:
            __import__(name)
        self.assertIs(type(caught.exception), ModuleNotFoundError)
        return caught.exception

    def test_the_reason_is_in_the_exception(self):
        for name, reason in (("playwright", "no network"), ("vpython", "no screen"), ("cudf", "use pandas"),
                             ("pynput.keyboard", "no screen"), ("telnetlib3", "--with telnetlib3"), ("odf", "--with odfpy")):
            exc = self.refused(name)
            self.assertEqual(exc.name, name.partition(".")[0])
            self.assertTrue(str(exc).startswith(f"No module named {exc.name!r}"), str(exc))
            self.assertIn(reason, str(exc))
            self.assertEqual(exc.msg, str(exc))

    def test_parts_of_what_is_here_get_no_advice(self):
        self.assertEqual(str(self.refused("json.nope")), "No module named 'json.nope'")
        self.assertEqual(str(self.refused("os.nope")), "No module named 'os.nope'; 'os' is not a package")

    def test_fallbacks_and_questions_work_as_ever(self):
        self.assertOk("try:\n    import vpython as js\nexcept ImportError:\n    import json as js\nname = js.__name__")
        self.assertEqual(self.namespace["name"], "json")
        self.assertIsNone(importlib.util.find_spec("vpython"))
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("vpython")
        sys.modules["vpython"] = None
        self.assertEqual(str(self.refused("vpython")), "import of vpython halted; None in sys.modules")

    def test_a_cell_sees_no_frame_of_the_machinery_and_no_words_about_sites(self):
        error = self.assertFails("import vpython", "ModuleNotFoundError")
        self.assertEqual(error["traceback"].count("File "), 1)
        self.assertEqual(error["traceback"].splitlines()[-1], f"ModuleNotFoundError: {error['message']}")
        stream = io.StringIO()
        try:
            import tkinter.nope  # noqa: F401  its library has words of its own for some
        except ImportError:
            traceback.print_exc(file=stream)
        self.assertNotIn("Site initialization", stream.getvalue())
        self.assertIn("test_missing.py", stream.getvalue())

    def test_a_misspelt_name_is_noticed(self):
        if _slm_missing._nearest is None:
            _slm_missing._nearest = lambda known, name: next((one for one in known if one[1:] == name[1:]), None)
            self.addCleanup(setattr, _slm_missing, "_nearest", None)
        self.assertIn("Did you mean: 'numpy'? A pure-Python package", _slm_missing.message("mumpy"))

    def test_other_errors_of_traceback_are_untouched(self):
        tree = traceback.TracebackException.from_exception(ValueError("x"))
        self.assertEqual(list(tree.format()), ["ValueError: x\n"])
        self.assertEqual(traceback.format_exception_only(ImportError("y", name="json")), ["ImportError: y\n"])

    def test_the_table_names_nothing_twice(self):
        names = [name for names, _ in _slm_missing._TABLE for name in names.split()]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertEqual(set(names) & set(_slm_missing._PACKAGES), set())
        self.assertIs(builtins.__import__, __import__)
