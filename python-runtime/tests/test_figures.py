"""What becomes of figures: with a matplotlib of a few lines, whose pictures are one pixel high."""

import base64
import struct
import sys
import types
import zlib

from guest import HOST, GuestCase, _slm_bundle, _slm_cell, _slm_figures, _slm_wire


class Gcf:
    figs = {}

    @classmethod
    def destroy(cls, number):
        cls.figs.pop(number).destroyed = True


class Box(types.SimpleNamespace):
    def padded(self, pad):
        return self


class FigureManagerBase:
    def __init__(self, canvas):
        self.canvas = canvas

    def show(self):
        raise AssertionError("the backend's own show was called")


class FigureCanvasAgg:
    """Draws the figure's `pixels`, of four bytes each, in one row."""

    def __init__(self, figure):
        self.figure = figure

    def print_figure(self, file, format, bbox_inches, dpi, facecolor, edgecolor):
        self.figure.draw()
        if format == "raw":
            image = memoryview(self.figure.pixels)
            file.write(image.cast("B", (1, len(image) // 4, 4)))
        else:
            file.write(b"%dx%s at %d" % (len(self.figure.pixels) // 4, str(bbox_inches)[:5].encode(), dpi))

    def get_renderer(self):
        return types.SimpleNamespace(width=len(self.figure.pixels) // 4, height=1)


class Figure:
    dpi = 1
    get_facecolor = get_edgecolor = lambda self: "white"
    draw = lambda self: None

    def __init__(self, pixels=b"\x00\x00\x00\xff", axes=1):
        self.pixels, self.axes, self.stale = pixels, [0] * axes, True
        self.bbox = types.SimpleNamespace(size=(len(pixels) // 4, 1))
        self.tight = Box(x0=0, y0=0, x1=len(pixels) // 4, y1=1, width=len(pixels) // 4, height=1)
        self.canvas = FigureCanvasAgg(self)

    def __repr__(self):
        return f"<Figure with {len(self.axes)} Axes>"

    def get_children(self):
        return ["background", *self.axes]

    def get_tightbbox(self, renderer):
        return self.tight

    def show(self):
        self.canvas.manager.show()


def figure(number, *args, **kwargs):
    made = Figure(*args, **kwargs)
    made.canvas.manager = FigureManagerBase(made.canvas)
    Gcf.figs[number] = made.canvas.manager
    return made


def decoded(png):
    """The size and the pixels of a PNG without filters, its checksums checked."""
    data, chunks, at = base64.b64decode(png), {}, 8
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + chunks[kind])
        at += 12 + length
    wide, high, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 6, 0, 0, 0] and list(chunks) == [b"IHDR", b"pHYs", b"IDAT", b"IEND"]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[start : start + 4 * wide + 1] for start in range(0, len(raw), 4 * wide + 1)]
    assert len(rows) == high and all(row[0] == 0 for row in rows)
    return wide, high, b"".join(row[1:] for row in rows)


class Figures(GuestCase):
    def setUp(self):
        fakes = {name: types.ModuleType(name) for name in (
            "matplotlib", "matplotlib.pyplot", "matplotlib.figure", "matplotlib._pylab_helpers",
            "matplotlib.backend_bases", "matplotlib.backends.backend_agg")}
        kept = {name: value for name, value in vars(_slm_figures).items() if not name.startswith("__")}
        formatters = list(_slm_bundle.formatters)
        modules = dict(sys.modules)

        def restore():
            vars(_slm_figures).update(kept)
            _slm_bundle.formatters[:] = formatters
            sys.modules.clear()
            sys.modules.update(modules)

        self.addCleanup(restore)
        sys.modules.update(fakes)
        Gcf.figs.clear()
        self.settings = fakes["matplotlib"].rcParams = {"interactive": False, "savefig.pad_inches": 0}
        fakes["matplotlib.figure"].Figure = Figure
        fakes["matplotlib._pylab_helpers"].Gcf = Gcf
        fakes["matplotlib.backend_bases"].FigureManagerBase = FigureManagerBase
        fakes["matplotlib.backends.backend_agg"].FigureCanvasAgg = FigureCanvasAgg
        self.plt = fakes["matplotlib.pyplot"]
        self.plt.figure = figure
        _slm_figures._Figure = None
        del _slm_figures.shown[:]
        show = FigureManagerBase.show
        self.addCleanup(setattr, FigureManagerBase, "show", show)
        super().setUp()
        self.namespace["plt"] = self.plt

    def shown(self, source, status=0):
        """The displays of a cell, and that nothing of it is left."""
        turned, frames = self.cell(source)
        self.assertEqual(turned, status, frames)
        self.assertEqual((Gcf.figs, _slm_figures.shown), ({}, []))
        return [frame["data"] for frame in frames if frame["kind"] == "display"]

    def texts(self, source, status=0):
        return [data.get("text/plain") for data in self.shown(source, status)]

    def test_open_figures_are_shown_in_order_of_number_at_the_end_of_a_cell(self):
        shown = self.shown("for n in 7, 3, 5: plt.figure(n, bytes([n] * 8))")
        self.assertEqual([decoded(data["image/png"]) for data in shown],
                         [(2, 1, bytes([n] * 8)) for n in (3, 5, 7)])
        self.assertEqual({data["text/plain"] for data in shown}, {"<Figure with 1 Axes>"})
        self.assertEqual(self.written(2), b"")

    def test_a_cell_that_raises_or_exits_shows_them_too(self):
        for ending in ("1 / 0", "raise SystemExit(3)", "raise KeyboardInterrupt"):
            with self.subTest(ending):
                self.assertEqual(len(self.shown(f"plt.figure(1)\n{ending}", status=1)), 1)
        self.assertEqual(self.cell("raise SystemExit(0)")[0], 0)
        # There may be no memory for a picture.
        self.assertEqual(self.shown("plt.figure(1)\nraise MemoryError", status=1), [])
        self.assertIn(b"1 figures were not shown", self.written(2))

    def test_show_shows_in_between_and_closes(self):
        self.assertEqual(self.texts("plt.figure(1, axes=2)\ndisplay(1)\nplt.show()\nassert not plt.show()\n"
                                    "display(2)\nf = plt.figure(1, axes=3)"),
                         ["1", "<Figure with 2 Axes>", "2", "<Figure with 3 Axes>"])

    def test_nothing_is_shown_twice_unless_it_has_changed(self):
        for how in ("display(f)", "f.show()", "plt.show(block=False)", "display(f)\nplt.show(block=False)"):
            with self.subTest(how):
                self.assertEqual(len(self.shown(f"f = plt.figure(1)\n{how}")), 1)
                self.assertEqual(len(self.shown(f"f = plt.figure(1)\n{how}\nf.stale = True")), 1)
                self.assertEqual(len(self.shown(f"f = plt.figure(1)\n{how}\nf.pixels = bytes(8)\nf.stale = True")), 2)
        self.assertEqual(len(self.shown("f = plt.figure(1)\ndisplay(f)\nplt.show()")), 1)
        self.assertEqual(self.shown("plt.figure(1)"), [], "it is the result")

    def test_in_interactive_mode_what_was_shown_is_compared(self):
        self.settings["interactive"] = True
        self.assertEqual(len(self.shown("f = plt.figure(1)\nplt.show()\nf.pixels = bytes(8)\nf.stale = False")), 2)
        self.assertEqual(len(self.shown("f = plt.figure(1)\nplt.show()\nplt.show()")), 1)

    def test_a_result_is_a_picture(self):
        frames = self.assertOk("plt.figure(1)")
        self.assertEqual([frame["kind"] for frame in frames], ["result"])
        self.assertEqual(set(frames[0]["data"]), {"text/plain", "image/png"})

    def test_an_empty_figure_is_a_text(self):
        self.assertEqual(self.shown("f = plt.figure(1, axes=0)"), [{"text/plain": "<Figure with 0 Axes>"}])

    def test_a_picture_is_cut_to_what_was_drawn(self):
        shown = self.shown("f = plt.figure(1, bytes(range(40)))\nf.tight.x0, f.tight.width = 2, 3")
        self.assertEqual(decoded(shown[0]["image/png"]), (3, 1, bytes(range(8, 20))))
        # What reaches over the edge is matplotlib's to draw, with the box as it is.
        shown = self.shown("f = plt.figure(1, bytes(40))\nf.tight.x0, f.tight.width = -1, 3")
        self.assertEqual(base64.b64decode(shown[0]["image/png"]), b"10xBox(x at 1")
        for box in ("float('nan')", "1e30"):
            shown = self.shown(f"f = plt.figure(1, bytes(40))\nf.tight.width = {box}")
            self.assertEqual(decoded(shown[0]["image/png"]), (10, 1, bytes(40)))

    def test_another_canvas_draws_for_itself(self):
        shown = self.shown("f = plt.figure(1)\nclass Other:\n    def __init__(self, f): self.figure = f\n"
                           "    print_figure = type(f.canvas).print_figure\n"
                           "m = f.canvas.manager\nm.canvas = f.canvas = Other(f)")
        self.assertEqual(base64.b64decode(shown[0]["image/png"]), b"1xtight at 1")

    def test_what_is_too_large_says_so(self):
        shown = self.texts("f = plt.figure(1)\nf.bbox.size = 1e6, 1e6")
        self.assertEqual(len(shown), 1)
        self.assertRegex(shown[0], r"^<Figure with 1 Axes> is too large to show: 1000000 megapixels are more than 34;")
        self.addCleanup(setattr, _slm_wire, "DISPLAY", _slm_wire.DISPLAY)
        _slm_wire.DISPLAY = 20_000
        # What does not compress is drawn anew with a lower resolution.
        noise = "import random\nf = plt.figure(1, random.Random(5).randbytes(40_000))\nf.dpi = 100\n"
        noise += "f.tight.width /= 100\nf.tight.y1 = f.tight.height = 0.01\n"
        shown = self.shown(noise)
        self.assertRegex(base64.b64decode(shown[0]["image/png"]), rb"^10000xtight at \d\d$")
        # If that does not help, a text remains.
        shown = self.texts(noise + "f.canvas.print_figure = lambda file, format, **_: file.write(\n"
                           "    bytes(40_000) if format != 'raw' else memoryview(f.pixels).cast('B', (1, 10_000, 4)))")
        self.assertIn("40000 bytes of PNG are more than fit", shown[0])

    def test_only_so_many_are_shown(self):
        self.assertEqual(len(self.shown("for n in range(60): plt.figure(n)")), 50)
        self.assertEqual(self.written(2), b"10 figures were not shown: a cell may show 50, within its memory and limits"
                                          b" on displays\n")
        self.assertEqual(len(self.shown("for n in range(60):\n    plt.figure(n)\n    plt.show()")), 50)
        self.assertIn(b"10 figures were not shown", self.written(2))
        self.assertEqual(len(self.shown("f = plt.figure(1)")), 1)
        HOST.refuse = True
        self.shown("plt.figure(1)\nplt.show()")
        HOST.refuse = False
        self.assertIn(b"1 figures were not shown", self.written(2))

    def test_an_error_of_drawing(self):
        wrong = "f = plt.figure(1)\ndef draw(): raise ValueError('no such glyph')\nf.draw = draw\n"
        # At the end of a cell, and where Jupyter would go on, it is told.
        for cell in (wrong, wrong + "display(f)", wrong + "f"):
            with self.subTest(cell):
                self.assertEqual(self.cell(cell)[0], 0)
                self.assertRegex(self.written(2), rb"^(A f|F)igure( 1)? could not be drawn: ValueError: no such glyph\n$")
        # Where the program asks for it, it is the program's.
        for call in ("plt.show()", "f.show()"):
            with self.subTest(call):
                error = self.assertFails(wrong + call, "ValueError")
                self.assertEqual((error["line"], self.written(2)), (2, b""))
                self.assertNotIn("_slm", error["traceback"])
        self.assertEqual(Gcf.figs, {})

    def test_hostile_figures(self):
        for trouble in ("raise SystemExit(0)", "raise KeyboardInterrupt", "raise MemoryError", "plt.figure(99)",
                        "import sys; sys.settrace(lambda *a: 1 / 0)", "display(f)", "plt.show()"):
            with self.subTest(trouble):
                status, frames = self.cell(f"f = plt.figure(1)\ndef draw():\n    {trouble}\nf.draw = draw\nraise OSError")
                self.assertEqual((status, [f["type"] for f in frames if f["kind"] == "error"]), (1, ["OSError"]))
                self.assertEqual((Gcf.figs, _slm_figures.shown), ({}, []))
        self.assertOk("import matplotlib._pylab_helpers as h\nh.Gcf.figs['x'] = h.Gcf.figs[1] = 5")
        self.assertEqual(Gcf.figs, {})

    def test_a_cell_without_figures_does_not_call_for_them(self):
        kept, _slm_figures.finish = _slm_figures.finish, None
        self.addCleanup(setattr, _slm_figures, "finish", kept)
        self.assertOk("1 + 1")

    def test_pause_shows_nothing(self):
        self.assertEqual(len(self.shown("f = plt.figure(1)\nfor _ in range(3): plt.pause(0)")), 1)

    def test_backends_that_need_a_screen_are_this_one(self):
        self.assertIs(sys.modules["matplotlib.backends.backend_tkagg"], sys.modules["matplotlib.backends.backend_agg"])

    def test_installing_again_changes_nothing(self):
        _slm_cell.install()
        self.assertEqual([cls for cls, _ in _slm_bundle.formatters], [Figure])
