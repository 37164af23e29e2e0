"""Cells' sources, asked for as the library does."""

import inspect
import linecache
import sys
import unittest

import _slm_sources
from guest import GuestCase


class Sources(GuestCase):
    def setUp(self):
        super().setUp()
        cache, getfile = linecache.cache, inspect.getfile
        self.addCleanup(setattr, linecache, "cache", cache)
        self.addCleanup(setattr, inspect, "getfile", getfile)
        _slm_sources.install()

    def test_nothing_that_is_cleared_or_checked_forgets_a_cell(self):
        self.assertOk("def f():\n    return 1")
        for code in ("clearcache()", "checkcache()", "checkcache('<cell 1>')", "cache.clear()", "updatecache('<cell 1>')"):
            self.assertOk(f"import linecache\nlinecache.{code}")
            self.assertEqual(linecache.getline("<cell 1>", 2), "    return 1\n", code)
        linecache.cache["/nowhere"] = (1, None, ["x"], "/nowhere")
        linecache.clearcache()
        self.assertNotIn("/nowhere", linecache.cache)
        self.assertEqual(linecache.cache.pop("/nowhere", 5), 5)

    @unittest.skipIf(sys.version_info < (3, 13), "classes do not know their line")
    def test_classes_are_found_in_the_cell_that_made_them(self):
        self.assertOk("class A:\n    x = 1\n\nclass B:\n    def m(self): pass\n")
        self.assertOk("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n")
        first = self.namespace["A"]
        self.assertOk("class A:\n    x = 2\n")
        for name, text in (("B", "class B:\n    def m(self): pass\n"), ("A", "class A:\n    x = 2\n"),
                           ("P", "@dataclasses.dataclass\nclass P:\n    x: int\n")):
            self.assertEqual(inspect.getsource(self.namespace[name]), text)
        self.assertEqual(inspect.getsourcelines(self.namespace["B"])[1], 4)
        self.assertTrue(inspect.getsource(first).startswith("class A:"))

    def test_what_no_cell_defines_is_refused_as_ever(self):
        self.assertOk("exec('class X: pass')\nY = type('Y', (), {'__module__': '__main__'})")
        for name in ("X", "Y"):
            with self.assertRaises((OSError, TypeError)):
                inspect.getsource(self.namespace[name])
        with self.assertRaises(TypeError):
            inspect.getsource(int)
        self.assertEqual(inspect.getfile(GuestCase), sys.modules["guest"].__file__)
