"""What programs import of IPython. The expected bundles are those that IPython 9.18 gives."""

import base64
import importlib
import pathlib
import sys
import tempfile

from guest import GuestCase, _slm_bundle, _slm_cell, _slm_ipython

SVG = "<?xml version='1.0'?><!DOCTYPE svg><svg xmlns='http://www.w3.org/2000/svg' width='10'><rect/></svg>"
PNG, JPEG = b"\x89PNG\r\n\x1a\n" + bytes(9), b"\xff\xd8\xff" + bytes(9)


class IPython(GuestCase):
    def setUp(self):
        finders, modules = list(sys.meta_path), dict(sys.modules)

        def restore():
            sys.meta_path[:] = finders
            for name in set(sys.modules) - set(modules):
                del sys.modules[name]

        self.addCleanup(restore)
        for name in [name for name in sys.modules if name.split(".")[0] in ("IPython", "matplotlib_inline")]:
            del sys.modules[name]
        super().setUp()
        # Where these tests run an IPython may be installed, which would go first.
        sys.meta_path.remove(_slm_ipython._Finder)
        sys.meta_path.insert(0, _slm_ipython._Finder)
        self.display = importlib.import_module("IPython.display")

    def bundle(self, name, *args, **kwargs):
        return _slm_bundle.bundle(getattr(self.display, name)(*args, **kwargs), 1 << 20)

    def test_texts(self):
        def plain(name, module="core"):
            return f"<IPython.{module}.display.{name} object>"

        for name, argument, mime, answer in (
            ("HTML", "<b>", "text/html", "<b>"), ("Markdown", "# m", "text/markdown", "# m"),
            ("Latex", "$x$", "text/latex", "$x$"), ("Math", "$x$", "text/latex", r"$\displaystyle x$"),
            ("Math", "x", "text/latex", r"$\displaystyle x$"), ("JSON", {"a": [1]}, "application/json", '{"a": [1]}'),
            ("JSON", '{"a": 1}', "application/json", '{"a": 1}'),
            ("Javascript", "alert(1)", "application/javascript", "alert(1)"),
            ("SVG", SVG, "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="10"><rect/></svg>'),
        ):
            with self.subTest(name):
                self.assertEqual(self.bundle(name, argument), {mime: answer, "text/plain": plain(name)})
        self.assertEqual(self.bundle("HTML", "<b>", metadata={"isolated": True})["text/html"], "<b>")
        self.assertEqual(self.bundle("Code", "a < b", language="python"), {
            "text/html": '<pre><code class="language-python">a &lt; b</code></pre>', "text/plain": "a < b"})
        for name in ("HTML", "Markdown", "Code"):
            with self.assertRaises(TypeError):
                getattr(self.display, name)(5)
        with self.assertRaises(TypeError):
            self.display.JSON(5)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, content in (("a.html", b"<i>"), ("a.png", PNG), ("a.jpg", JPEG), ("a.svg", SVG.encode())):
                (folder / name).write_bytes(content)
            for path in (str(folder / "a.html"), folder / "a.html"):
                self.assertEqual(self.bundle("HTML", path)["text/html"], "<i>")
            self.assertEqual(self.bundle("HTML", filename=str(folder / "a.html"))["text/html"], "<i>")
            self.assertIn("<rect/>", self.bundle("SVG", str(folder / "a.svg"))["image/svg+xml"])
            for name, mime, data in (("a.png", "image/png", PNG), ("a.jpg", "image/jpeg", JPEG)):
                for arguments in ({"filename": str(folder / name)}, {"data": folder / name}):
                    found = self.bundle("Image", **arguments)
                    self.assertEqual(found, {mime: base64.b64encode(data).decode(), "text/plain":
                                             "<IPython.core.display.Image object>"})
            left = self.bundle("Image", filename=str(folder / "a.png"), embed=False, width=3)
            self.assertEqual(left["text/html"], f'<img src="{folder}/a.png" width="3"/>')
            self.assertIn(f"<a href='{folder}/a.png' target='_blank'>", self.bundle("FileLink", folder / "a.png")["text/html"])

    def test_images(self):
        for data, mime in ((PNG, "image/png"), (JPEG, "image/jpeg"), (b"GIF89a", "image/gif"), (b"?", "image/png")):
            self.assertEqual(self.bundle("Image", data)[mime], base64.b64encode(data).decode())
        self.assertEqual(self.bundle("Image", url="http://h/x.png", height=4, alt='"')["text/html"],
                         '<img src="http://h/x.png" height="4" alt="&quot;"/>')
        for arguments, error in (((), ValueError), (("none.png",), FileNotFoundError), ((PNG, None, None, "tiff"), ValueError)):
            with self.subTest(arguments), self.assertRaises(error):
                self.display.Image(*arguments)

    def test_functions(self):
        frames = self.assertOk("""
from IPython.display import *
from IPython.display import display, clear_output, display_html, display_pretty, update_display, publish_display_data
class Both:
    __repr__ = lambda self: "plain"
    _repr_html_ = lambda self: "html"
clear_output(wait=True)
display_html(Both())
display_html("<i>", raw=True)
display_pretty(Both())
display(Both(), exclude=["text/html"])
handle = display(1, display_id="mine")
update_display(2, display_id=handle.display_id)
handle.update(3)
publish_display_data({"text/x": "y"})
assert display(4) is None and repr(handle) == "<DisplayHandle display_id=mine>"
for step in (bar := ProgressBar(2)): pass
""")
        self.assertEqual([frame["data"] for frame in frames][:9], [
            {"text/html": "html"}, {"text/html": "<i>"}, {"text/plain": "plain"}, {"text/plain": "plain"},
            {"text/plain": "1"}, {"text/plain": "2"}, {"text/plain": "3"}, {"text/x": "y"}, {"text/plain": "4"}])
        self.assertTrue(frames[-1]["data"]["text/plain"].endswith("] 2/2"))

    def test_the_modules(self):
        self.assertOk("""
import IPython, IPython.core.display, IPython.lib.display, matplotlib_inline
from IPython import display as module, get_ipython, version_info
from IPython.core.display import display, HTML
from IPython.core.interactiveshell import InteractiveShell
assert IPython.display is module and module.HTML is HTML and module.display is display
assert get_ipython() is None and IPython.core.display.Image and not InteractiveShell.initialized()
try: import IPython.kernel
except ModuleNotFoundError as e: assert e.name == "IPython.kernel"
else: raise AssertionError
""")

    def test_an_ipython_of_the_users_own_goes_first(self):
        _slm_cell.install()
        sys.meta_path.remove(_slm_ipython._Finder)
        _slm_ipython.install()
        _slm_ipython.install()
        self.assertEqual([place for place, finder in enumerate(sys.meta_path) if finder is _slm_ipython._Finder],
                         [len(sys.meta_path) - 1])
