"""Figures: what a cell draws with matplotlib becomes displays, as in a notebook.

Depends on `_slm_wire`, `_slm_bundle` and `_slm_world`. Stands in for `pyplot.show`, `pyplot.pause` and the `show` of
figures' managers, whatever the backend; at the end of a cell the driver calls `finish` if figures are open. Drawing
runs methods that a cell wrote: it happens in the cell's world and inside its limits.

A figure is drawn as Jupyter's inline backend draws it: as PNG, at the figure's own resolution, cut to what was drawn
with `bbox_inches="tight"`. It is drawn once and cut afterwards, where Jupyter draws it twice.
"""

import sys
from io import BytesIO as _File
from math import isfinite as _isfinite
from struct import pack as _pack
from time import sleep as _sleep
from zlib import compressobj as _compressobj
from zlib import crc32 as _crc32

import _slm_bundle as _bundle
import _slm_wire as _wire
import _slm_world as _world
from _slm_wire import PRISTINE as __builtins__

#: Figures that one cell may show.
MOST = 50
#: Pixels that a shown figure may have, each of which takes 4 bytes while it is drawn.
PIXELS = 32 << 20
#: What matplotlib adds around the figure, in inches, unless rcParams say otherwise.
_PAD = 0.1
#: Backends that draw on screens and are not part of this build: drawing them is agg's work here.
_SCREENS = (
    "gtk3agg gtk3cairo gtk4agg gtk4cairo macosx nbagg qt4agg qt5agg qt5cairo qtagg qtcairo tkagg tkcairo webagg wx wxagg"
).split()

#: The open figures' managers by number: matplotlib's own dictionary.
open_figures = {}
#: What the cell has shown: [figure, hash of its picture], with None for a figure that has been closed since.
shown = []
#: Figures that could not be shown.
_unshown = 0
_Figure = _Agg = _Gcf = None
_settings = {}


def install():
    """Takes its place in matplotlib, if that has been imported. Once, before the snapshot."""
    global open_figures, _Figure, _Agg, _Gcf, _settings
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or _Figure is not None:
        return
    backends = sys.modules["matplotlib.backend_bases"]
    agg = sys.modules["matplotlib.backends.backend_agg"]
    _Gcf = sys.modules["matplotlib._pylab_helpers"].Gcf
    _Figure, _Agg, open_figures = sys.modules["matplotlib.figure"].Figure, agg.FigureCanvasAgg, _Gcf.figs
    _settings = sys.modules["matplotlib"].rcParams
    pyplot.show, pyplot.pause, backends.FigureManagerBase.show = show, pause, _show_one
    for name in _SCREENS:
        sys.modules.setdefault(f"matplotlib.backends.backend_{name}", agg)
    _bundle.formatters.append((_Figure, _format))


def show(*args, block=None, **kwargs):
    """Display all open figures.

    They are closed, as they would be when the windows of a blocking `show` were; with `block=False`, or in interactive
    mode, they stay open until the end of the cell.
    """
    stay = not block if block is not None else _settings.get("interactive")
    for number, manager in sorted(open_figures.items()):
        try:
            _send(manager.canvas.figure)
        finally:
            if not stay:
                _close(number, manager)


def pause(interval):
    """Sleep for *interval* seconds. There is no event loop; open figures are displayed at the end of the cell."""
    _sleep(interval)


def _show_one(self):
    """Displays the figure. It stays open until the end of the cell."""
    _send(self.canvas.figure)


show.__module__ = pause.__module__ = "matplotlib.pyplot"


def finish(drawing=True):
    """Displays the figures that are still open, unless they were displayed as they are, and closes them: a cell has
    ended. Raises nothing."""
    global _unshown
    try:
        for number, manager in sorted(open_figures.items()):
            try:
                if drawing:
                    _send(manager.canvas.figure)
                elif _entry(manager.canvas.figure) is None:
                    _unshown += 1
            except BaseException as exc:
                _complain(f"Figure {number} could not be drawn: ", exc)
            _close(number, manager)
        if _unshown:
            _world.write_error(
                f"{_unshown} figures were not shown: a cell may show {MOST}, within its memory and limits on displays\n"
            )
    except BaseException:
        pass  # a cell put something of its own among the figures
    _unshown = 0
    open_figures.clear()
    shown.clear()


def _close(number, manager):
    entry = _entry(manager.canvas.figure)
    if entry is not None:
        entry[0] = None
    _Gcf.destroy(number)


def _entry(figure):
    for entry in shown:
        if entry[0] is figure:
            return entry


def _send(figure):
    """Displays a figure, unless that has been done and it is as it was. Raises what drawing it raises."""
    global _unshown
    entry = _entry(figure)
    if entry is None and len(shown) >= MOST:
        _unshown += 1
        return
    # In interactive mode every change is drawn at once, and a figure is never stale.
    if entry is not None and not figure.stale and not _settings.get("interactive"):
        return
    before = entry and entry[1]
    data = {"text/plain": repr(figure)} | _remembered(figure, _wire.DISPLAY)
    if entry is not None and entry[1] == before:
        return
    if "image/png" in data:
        _bundle.put(data, "image/png", data["image/png"])
    if not _wire.send(_wire.bundle("display", data, _wire.DISPLAY)):
        _unshown += 1


def _format(figure, limit):
    """The formatter of figures that are displayed or a cell's result."""
    try:
        return _remembered(figure, limit)
    except BaseException as exc:
        _complain("A figure could not be drawn: ", exc)
        return {}


def _remembered(figure, limit):
    """The picture of a figure, which counts as shown from here on, even when it cannot be drawn."""
    picture = None
    try:
        picture = _picture(figure, limit)
        return picture
    finally:
        figure.stale = False
        entry = _entry(figure)
        if entry is None and len(shown) < MOST:
            shown.append(entry := [figure, 0])
        if entry is not None:
            entry[1] = hash(picture.get("image/png")) if picture else 0


def _complain(beginning, exc):
    try:
        message = str(exc)
    except BaseException:
        message = ""
    try:
        _world.write_error(_wire.head(f"{beginning}{_bundle.type_name(type(exc))}: {message}", _wire.MESSAGE) + "\n")
    except BaseException:
        pass


def _picture(figure, limit):
    """The figure as a dictionary of `image/png`, or, when that would be too large, of a text that says so; empty for an
    empty figure. In base64 it fits into `limit` bytes: where it would not, it is drawn anew with fewer pixels."""
    # Every figure has its background.
    if len(figure.get_children()) < 2:
        return {}
    dpi = figure.dpi
    width, height = figure.bbox.size
    if not 0 < width * height <= PIXELS:
        return _too_large(figure, f"{width * height / 1e6:.0f} megapixels are more than {PIXELS / 1e6:.0f}")
    image = _draw(figure, dpi)
    room = max(limit - 4096, 0) * 3 // 4
    if len(image) > room:
        # The file's size grows about as the number of pixels.
        image = _print(figure, dpi * (0.8 * room / len(image)) ** 0.5) if room > 4096 else image
        if len(image) > room:
            return _too_large(figure, f"{len(image)} bytes of PNG are more than fit")
    return {"image/png": image}


def _too_large(figure, why):
    return {"text/plain": f"{figure!r} is too large to show: {why}; a smaller figsize or dpi helps"}


def _draw(figure, dpi):
    """The figure as PNG, cut to what was drawn."""
    canvas = figure.canvas
    if not isinstance(canvas, _Agg):
        return _print(figure, dpi)
    drawn = _Sink()
    # An empty box is none, also where rcParams ask for a tight one.
    canvas.print_figure(drawn, format="raw", bbox_inches="", **_colours(figure), dpi=dpi)
    renderer = canvas.get_renderer()
    box, pad = figure.get_tightbbox(renderer), _pad()
    all_wide, all_high = int(renderer.width), int(renderer.height)
    edges = box.x0 - pad, box.y1 + pad, box.width + 2 * pad, box.height + 2 * pad
    if all(map(_isfinite, edges)):
        left, top, wide, high = (value * dpi for value in edges)
        left, top, wide, high = round(left), all_high - round(top), int(wide), int(high)
        if 0 <= left and 0 <= top and left + wide <= all_wide and top + high <= all_high and wide and high:
            return _png(drawn.image, all_wide, left, top, wide, high, dpi)
        if 0 < wide * high <= PIXELS:
            return _print(figure, dpi, box.padded(pad))
    return _png(drawn.image, all_wide, 0, 0, all_wide, all_high, dpi)


class _Sink:
    """A file that keeps what matplotlib writes to it, uncopied."""

    def seek(self, *_):
        return 0

    def write(self, image):
        self.image = memoryview(image).cast("B")


def _print(figure, dpi, box="tight"):
    """The figure as PNG by matplotlib alone: for other canvases, other resolutions, and what reaches over the edge."""
    file = _File()
    figure.canvas.print_figure(file, format="png", bbox_inches=box, **_colours(figure), dpi=dpi)
    return file.getvalue()


def _colours(figure):
    return {"facecolor": figure.get_facecolor(), "edgecolor": figure.get_edgecolor()}


def _pad():
    pad = _settings.get("savefig.pad_inches")
    return pad if type(pad) in (int, float) else _PAD


def _png(image, row, left, top, wide, high, dpi):
    """A part of an RGBA image, `row` pixels wide, as a PNG file. Without the filters that Pillow tries on each row it
    is made in half the time, and drawings compress better."""
    deflate = _compressobj(6)
    parts = []
    for line in range(top, top + high):
        start = 4 * (line * row + left)
        parts += deflate.compress(b"\0"), deflate.compress(image[start : start + 4 * wide])
    parts.append(deflate.flush())
    metre = round(dpi / 0.0254)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _pack(">I", len(data)) + kind + data + _pack(">I", _crc32(kind + data))
        for kind, data in (
            (b"IHDR", _pack(">IIBBBBB", wide, high, 8, 6, 0, 0, 0)),
            (b"pHYs", _pack(">IIB", metre, metre, 1)),
            (b"IDAT", b"".join(parts)),
            (b"IEND", b""),
        )
    )
