"""MIME bundles of results and displays, and the bounds of their frames."""

import base64
import json

from guest import HOST, GuestCase, _slm_wire

RICH = """
class Rich:
    def __repr__(self): return 'plain'
    def _repr_html_(self): return '<b>html</b>'
    def _repr_markdown_(self): return '**md**', {'isolated': True}
    def _repr_svg_(self): return None
    def _repr_png_(self): return b'\\x89PNG'
    def _repr_jpeg_(self): raise SystemExit(3)
    def _repr_latex_(self): return '$x$'
    def _repr_json_(self): return {'a': [1, 'ж']}
"""


class Bundles(GuestCase):
    def test_jupyters_methods(self):
        self.assertEqual(self.result(RICH + "Rich()"), {
            "text/plain": "plain", "text/html": "<b>html</b>", "text/markdown": "**md**", "text/latex": "$x$",
            "image/png": base64.b64encode(b"\x89PNG").decode(), "application/json": '{"a": [1, "\\u0436"]}'})
        self.assertEqual(set(self.result("Rich")), {"text/plain"})

    def test_what_a_mimebundle_holds_goes_first_the_plain_text_too(self):
        self.assertOk(RICH + """
class Both(Rich):
    def _repr_mimebundle_(self, include, exclude):
        return {'text/html': 'bundled', 'text/plain': 'its own', 'application/x+json': {'k': 1},
                'image/gif': b'GIF', 5: 'x', 'bad': object()}, {'meta': 1}
""")
        data = self.result("Both()")
        self.assertEqual((data["text/html"], data["text/plain"]), ("bundled", "its own"))
        self.assertEqual((data["application/x+json"], data["image/gif"]), ('{"k": 1}', "R0lG"))
        self.assertEqual([key for key in data if key in ("5", "bad")], [])

    def test_answers_are_held_to_their_types(self):
        data = self.result("""
class Wrong:
    def __repr__(self): return "r"
    def _repr_html_(self): return 5
    def _repr_svg_(self): return b"<svg>"
    def _repr_latex_(self): return ["x"], {}
    def _repr_markdown_(self): return "a", "b", "c"
    def _repr_png_(self): return [1]
    def _repr_jpeg_(self): return "aW4gYmFzZTY0"
    def _repr_json_(self): return 5
    def _repr_pdf_(self): return b"%PDF"
    _repr_javascript_ = "no method"
    def _repr_mimebundle_(self): return [1]
Wrong()
""")
        self.assertEqual(data, {"text/plain": "r", "image/jpeg": "aW4gYmFzZTY0", "application/pdf": "JVBERg=="})
        self.assertEqual(self.result("class C:\n    _repr_html_ = classmethod(lambda cls: 'of the class')\nC")["text/html"],
                         "of the class")

    def test_what_shows_itself_is_no_result(self):
        frames = self.assertOk("class S:\n    def _ipython_display_(self): display(1)\ndisplay(S())\nS()")
        self.assertEqual([(f["kind"], f["data"]) for f in frames], [("display", {"text/plain": "1"})] * 2)
        for error in ("NotImplementedError", "SystemExit"):
            data = self.result(f"class S:\n    def _ipython_display_(self): raise {error}\n"
                               "    def _repr_html_(self): return 'h'\nS()")
            self.assertEqual(data["text/html"], "h")

    def test_types_that_are_wanted(self):
        frames = self.assertOk(RICH + """
display(Rich(), include=["text/html", "image/png"], exclude=["image/png"])
display(Rich(), exclude=["text/plain", "image/png", "application/json", "text/latex"])
display(Rich(), 5, include=["text/none"])
display(5, exclude={"text/html"})
""")
        self.assertEqual([f["data"] for f in frames], [
            {"text/html": "<b>html</b>"}, {"text/html": "<b>html</b>", "text/markdown": "**md**"}, {"text/plain": "5"}])

    def test_hostile_values(self):
        raised = "<H: repr() raised {}>"
        for body, plain in (
            ("def __repr__(s): raise SystemExit(0)", raised.format("SystemExit")),
            ("def __repr__(s): raise KeyboardInterrupt", raised.format("KeyboardInterrupt")),
            ("def __repr__(s): return 5", raised.format("TypeError")),
            ("def __repr__(s): return repr(s)", raised.format("RecursionError")),
            ("def __getattr__(s, n): raise KeyboardInterrupt\n    def __repr__(s): return 'r'", "r"),
            ("def __getattribute__(s, n): raise SystemExit\n    def __repr__(s): return 'r'", "r"),
            ("def __getattr__(s, n): return lambda *a: 'everything'\n    def __repr__(s): return 'r'", "r"),
            ("__class__ = property(lambda s: 1/0)\n    def __repr__(s): return 'r'", "r"),
            ("_repr_html_ = 5\n    def __repr__(s): return 'r'", "r"),
            ("def __eq__(s, o): 1/0\n    __ne__ = __bool__ = __len__ = __eq__\n    def __repr__(s): return 'r'", "r"),
            ("def __repr__(s): return S('r')\nclass S(str):\n    def encode(s, *a): 1/0\n"
             "    __len__ = __str__ = __iter__ = encode", "r"),
        ):
            with self.subTest(body):
                self.assertEqual(self.result(f"class H:\n    {body}\nH()"), {"text/plain": plain})
        self.assertEqual(self.result("from unittest.mock import MagicMock\nm = MagicMock(name='m')\nm").keys(),
                         {"text/plain"})

    def test_surrogates_and_control_characters(self):
        self.assertEqual(self.result("class R:\n    def __repr__(s): return '\\ud800\\x00\\x1b\\u2028'\nR()"),
                         {"text/plain": "\ufffd\x00\x1b\u2028"})

    def test_a_long_text_is_cut_with_a_mark(self):
        for text, count in (("'x' * (3 << 20)", 3 << 20), ("'\\0' * (1 << 20)", 4 << 20), ("'🐸' * (1 << 20)", 1 << 20),
                            ("'\\0' * 200_000 + 'x' * 900_000", 1_700_000)):
            with self.subTest(text):
                plain = self.result(text)["text/plain"]
                self.assertLessEqual(len(HOST.frames[0]), _slm_wire.FRAME)
                self.assertGreater(len(HOST.frames[0]), _slm_wire.FRAME // 2)
                self.assertTrue(plain.endswith(f"… ({count + 2 - plain.index('…')} more characters)"), plain[-60:])

    def test_what_does_not_fit_is_left_out_whole(self):
        data = self.result("class R:\n    def __repr__(s): return 'p' * (2 << 20)\n"
                           "    def _repr_html_(s): return 'h' * 100_000\n"
                           "    def _repr_png_(s): return b'b' * 4_000_000\nR()")
        self.assertEqual(len(data["text/html"]), 100_000)
        self.assertTrue("image/png" not in data, "larger than a display may be")
        self.assertIn("more characters", data["text/plain"])
        self.assertLessEqual(len(HOST.frames[0]), _slm_wire.DISPLAY)
        data = self.result("class R:\n    def _repr_mimebundle_(s): return {f't/{i}': 'x' for i in range(1000)}\nR()")
        self.assertLess(len(data), 40)

    def test_text_just_at_the_bound(self):
        for length in (_slm_wire.FRAME - 1024 - 2 + delta for delta in (-3, -2, -1, 0, 1)):
            with self.subTest(length):
                plain = self.result(f"class R:\n    def __repr__(s): return 'x' * {length}\nR()")["text/plain"]
                self.assertEqual("…" in plain, length > _slm_wire.FRAME - 1026)


class Display(GuestCase):
    def test_display_sends_a_bundle_for_each_object(self):
        frames = self.assertOk(RICH + "display(1, Rich())\ndisplay({'text/html': '<i>'}, raw=True)\n2")
        self.assertEqual([f["kind"] for f in frames], ["display", "display", "display", "result"])
        self.assertEqual(frames[0]["data"], {"text/plain": "1"})
        self.assertEqual(frames[1]["data"]["text/html"], "<b>html</b>")
        self.assertEqual(frames[2]["data"], {"text/html": "<i>"})

    def test_a_display_may_be_larger_than_a_result(self):
        self.assertOk("class R:\n    def _repr_png_(s): return b'b' * (2 << 20)\ndisplay(R())")
        self.assertGreater(len(json.loads(HOST.frames[0])["data"]["image/png"]), 2 << 20)
        self.assertLessEqual(len(HOST.frames[0]), _slm_wire.DISPLAY)

    def test_the_session_says_how_large_a_display_may_be(self):
        self.addCleanup(setattr, _slm_wire, "DISPLAY", _slm_wire.DISPLAY)
        for settings, expected in (({"display": 10_000}, 10_000), ({"display": 10_000, "displays": 5000}, 5000),
                                   ({"display": 1 << 25, "displays": 1 << 26}, 1 << 25)):
            with self.subTest(settings):
                self.start(**settings)
                self.assertEqual(_slm_wire.DISPLAY, expected)
                data = self.assertOk("class R:\n    def __repr__(s): return 'p' * (1 << 26)\n"
                                     "    def _repr_png_(s): return b'b' * (4 << 20)\ndisplay(R())")[0]["data"]
                self.assertLessEqual(len(HOST.frames[0]), expected)
                self.assertGreater(len(HOST.frames[0]), expected // 2 - 1024)
                self.assertTrue(data["text/plain"].endswith(" more characters)"))
                self.assertEqual("image/png" in data, expected == 1 << 25)
        self.assertEqual(self.turn("__import__('_slm_cell').bound('{\"display\": 2000, \"displays\": 9}')"), 0)
        self.assertEqual(_slm_wire.DISPLAY, 9)
        self.start(display=4 << 20, displays=16 << 20)
        self.assertEqual(_slm_wire.DISPLAY, 4 << 20)

    def test_a_bound_too_small_for_anything_is_the_hosts_to_keep(self):
        self.addCleanup(setattr, _slm_wire, "DISPLAY", _slm_wire.DISPLAY)
        self.start(display=0, displays=0)
        for value in ("1", "'\\0' * 10_000_000", "'🐸' * 100_000"):
            with self.subTest(value):
                self.assertOk(f"display({value})")
                self.assertLess(len(HOST.frames[0]), 2048)

    def test_a_display_that_the_host_refuses_is_an_error_of_the_cell(self):
        HOST.refuse = True
        self.assertEqual(self.cell("display(1)")[0], 1)
        HOST.refuse = False
        error = self.assertFails("import _host\nkept = _host.call\ntry:\n    import _slm_wire\n    _slm_wire._call = None\n"
                                 "    display(1)\nfinally:\n    _slm_wire._call = kept", "RuntimeError")
        self.assertIn("the host refused this object", error["message"])
