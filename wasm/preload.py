"""Runs in the guest once, before the snapshot is taken: imports what programs reach for, makes first uses cheap, and
leaves the interpreter ready for the cell driver.

The image's build (`src/sandbox/snapshot.rs`) executes `memory.py`, whose functions are used here by their bare names,
and then this, in a namespace of its own, so that nothing lands in `__main__`, and calls `build`.

It is an ingredient of the image: a change here changes the image's hash. Each list may be trimmed by measuring.
"""

import gc
import io
import linecache
import marshal
import os
import stat
import sys
import types

#: The driver's modules, each importing only those before it.
DRIVER = (
    "_slm_wire", "_slm_bundle", "_slm_error", "_slm_missing", "_slm_sources", "_slm_magic", "_slm_desktop", "_slm_hashes",
    "_slm_decimal", "_slm_world", "_slm_figures", "_slm_ipython", "_slm_cell",
)
#: Those of them whose `install` puts stand-ins into the library.
INSTALLED = ("_slm_missing", "_slm_sources", "_slm_desktop", "_slm_hashes", "_slm_decimal")
#: One that has to be in place before numpy adds anything up.
EARLY = "_slm_numpy"
#: What stands in for parts of the library that need threads or processes, each importing only those before it.
STAND_INS = ("_slm_alone", "_slm_loop", "_slm_pools", "_slm_values", "_slm_shared")

#: The standard library that small programs use. Free to have once in the image, milliseconds each to import later.
LIBRARY = (
    "abc argparse array ast base64 binascii bisect calendar cmath collections collections.abc contextlib copy csv "
    "dataclasses datetime decimal difflib enum errno fractions functools glob hashlib heapq hmac html inspect io "
    "itertools json keyword linecache locale logging math numbers operator os pathlib pickle platform pprint queue "
    "random re reprlib secrets shutil signal statistics string struct sys tempfile textwrap threading time timeit "
    "traceback types typing unicodedata urllib.parse uuid warnings weakref zlib"
).split()

#: Loaded by the library at a first use rather than with it.
LAZY = "_strptime _suggestions _colorize encodings.idna encodings.latin_1 encodings.utf_8_sig tokenize".split()

#: Larger or rarer parts: their share of the image's pages is to be measured before they stay.
RARER = (
    "asyncio bz2 cmd code concurrent.futures concurrent.futures.process concurrent.futures.thread configparser doctest "
    "email getpass gzip http http.client lzma multiprocessing.dummy multiprocessing.managers multiprocessing.pool pdb pydoc "
    "smtplib socket sqlite3 subprocess tarfile tomllib unittest unittest.mock urllib.request xml.etree.ElementTree zipfile "
    "zoneinfo"
).split()

#: The packages whose import costs most: pandas alone is over half a second without the image.
PACKAGES = "numpy numpy.random numpy.linalg pandas matplotlib matplotlib.pyplot joblib tqdm".split()


def build(sources, preopens, warm_figures=True):
    """Prepares the interpreter. `sources` maps each name of `EARLY`, `STAND_INS` and `DRIVER` to its text; descriptors from
    3 up to and without 3 + `preopens` are the guest's folders. A module that is not there fails the build."""
    for name in LIBRARY + LAZY + PACKAGES[:1]:
        __import__(name)
    load(EARLY, compile(sources.pop(EARLY), f"<{EARLY}>", "exec")).install()
    for name in PACKAGES:
        __import__(name)
    # joblib's own, for processes to come.
    os.environ.pop("KMP_INIT_AT_FORK", None)
    sys.modules["matplotlib"].use("agg")
    # Early: what drawing needs meanwhile is then used by what is imported next, since memory never shrinks.
    if warm_figures:
        warm_plots()
    for name in RARER:
        __import__(name)
    for name in STAND_INS:
        module = load(name, compile(sources[name], f"<{name}>", "exec"))
        if hasattr(module, "install"):
            module.install()
    warm_tasks()
    # Last: what the interpreter specialised for drawing would be specialised anew, and written to, by each session.
    warm()
    # Compiled before the holes are filled, loaded after: running code writes into it, so the driver's must lie together.
    compiled = [marshal.dumps(compile(sources[name], f"<{name}>", "exec")) for name in DRIVER]
    sources.clear()
    memory = linear_memory()
    fill(memory)
    for name, code in zip(DRIVER, compiled):
        load(name, marshal.loads(code))
    os.chdir("/work")
    for name in INSTALLED:
        sys.modules[name].install()
    cell, world, reactor = (sys.modules[name] for name in ("_slm_cell", "_slm_world", "_reactor"))
    sys.modules["_slm_error"].OURS.update(f"<{name}>" for name in (EARLY, *STAND_INS, *DRIVER))
    cell.install()
    world.twisters[:] = twisters(memory)
    cell.rehearse(lambda text: reactor.turn(text.encode(), None))
    reactor._turns = 0
    linecache.clearcache()
    check_descriptors(preopens)
    immortalise(memory)
    fill(memory)
    # What is frozen the collector never visits: a session does not dirty the pages of the library's objects.
    gc.freeze()


def load(name, code):
    """Makes a module of the driver's out of its code."""
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, vars(module))
    return module


def warm():
    """Uses the packages once, so that what they make at a first use (type caches, lazy imports, compiled patterns,
    specialised bytecode) is in the image. Prints nothing, keeps nothing, opens nothing."""
    import csv
    import datetime
    import json
    import re
    import statistics
    import traceback

    import numpy as np
    import pandas as pd

    text = "date,department,revenue\n2024-01-15,Sales,25000\n2024-04-02,Sales,50000\n2024-05-20,Marketing,41000\n"
    table = pd.read_csv(io.StringIO(text), parse_dates=["date"])
    table["quarter"] = table["date"].dt.quarter
    grouped = table.groupby(["department", "quarter"])["revenue"].sum().reset_index()
    for frame in (table, grouped, grouped[grouped["revenue"] >= 40000], table.describe()):
        frame.to_string(index=False)
        repr(frame)
        frame._repr_html_()
    made = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, None], "c": ["x", "y", "z"]})
    made.merge(made, on="a").sort_values("a").to_csv(io.StringIO(), index=False)
    made.fillna(0).pivot_table(index="c", values="b", aggfunc="mean").to_json()
    made["a"].sum(), made["b"].mean(), made.dtypes, made.iloc[0], made.loc[made["a"] > 1, "c"].tolist()
    made["a"].apply(str), made["c"].value_counts(), made["c"].str.upper()
    array = np.arange(12.0).reshape(3, 4)
    repr(array @ array.T), array.mean(axis=0), np.linalg.inv(np.eye(2)), np.random.default_rng(0).normal(size=3)
    json.loads(json.dumps({"a": [1, 2.5, None, "x"]}, indent=2))
    list(csv.DictReader(io.StringIO(text)))
    re.findall(r"(\w+)-(\d+)", "a-1 b-2")
    datetime.datetime.strptime("2024-01-15", "%Y-%m-%d").strftime("%d %B %Y")
    statistics.mean([1, 2, 3]), statistics.stdev([1, 2, 3])
    for source in ("1 / 0", "undefined_name", "[].appendd", "if x", "{}['k']", "int('x')"):
        try:
            exec(compile(source, "<warm>", "exec"), {})
        except Exception as exc:
            "".join(traceback.TracebackException.from_exception(exc, compact=True).format())


def warm_tasks():
    """Runs an event loop and a pool once. Tasks have names, since unnamed ones are counted from 1 in each program."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    async def several(loop):
        async with asyncio.timeout(1):
            await asyncio.gather(*(loop.create_task(asyncio.sleep(0.001 * part), name="warm") for part in range(3)))
        return await asyncio.to_thread(int)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(loop.create_task(several(loop), name="warm"))
    loop.close()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(int, "12"))


def warm_plots():
    """Draws the usual kinds of figures the way `_slm_figures` does, and lets go of the font files that drawing opened:
    their descriptors are dead in a session."""
    from matplotlib import font_manager, mathtext, pyplot, text, textpath
    from matplotlib.backends import backend_agg

    # What runs once or twice is not yet specialised by the interpreter. Few pixels, since memory never shrinks.
    with pyplot.rc_context({"figure.dpi": 30}):
        for _ in range(2):
            for kind in (_lines, _points, _bars, _images, _panels, _tables):
                kind(pyplot)
                for number in pyplot.get_fignums():
                    _draw(pyplot.figure(number))
                pyplot.savefig(io.BytesIO(), format="png", bbox_inches="tight")
                pyplot.close("all")
    # Which file serves a font stays known; the open files do not.
    for owner in (font_manager, mathtext.MathTextParser, textpath, text, backend_agg):
        for name in dir(owner):
            clear = getattr(getattr(owner, name, None), "cache_clear", None)
            if clear is not None:
                clear()
    gc.collect()


def _draw(figure):
    figure.canvas.print_figure(io.BytesIO(), format="raw", bbox_inches="", facecolor=figure.get_facecolor(),
                               edgecolor=figure.get_edgecolor(), dpi=figure.dpi)
    figure.get_tightbbox(figure.canvas.get_renderer()).padded(0.1)


def _lines(pyplot):
    pyplot.plot([1, 2, 3], [1, 4, 9], "o-", label="line")
    pyplot.plot([3, 2, 1], color="red", linestyle="--", marker="x", label="other")
    pyplot.fill_between([0, 1, 2], [0, 1, 1], alpha=0.3)
    pyplot.axhline(2, color="gray")
    pyplot.title("Title")
    pyplot.xlabel("x")
    pyplot.ylabel("y")
    pyplot.grid(True, alpha=0.3)
    pyplot.legend()
    pyplot.text(0.5, 0.5, "$x^2$", rotation=30)
    pyplot.tight_layout()


def _points(pyplot):
    import numpy as np

    figure, axes = pyplot.subplots()
    points = axes.scatter(np.arange(9.0), np.arange(9.0) ** 2, c=np.arange(9.0), cmap="viridis", alpha=0.5)
    figure.colorbar(points, label="z")
    axes.set(title="Title", xlabel="x", ylabel="y", yscale="log")
    axes.annotate("here", (1, 2), (3, 4), arrowprops={"arrowstyle": "->"})


def _bars(pyplot):
    import numpy as np

    figure, axes = pyplot.subplots(figsize=(10, 6))
    axes.bar(["a", "b", "c"], [3, 2, 1], color="skyblue", edgecolor="black")
    axes.tick_params(axis="x", labelrotation=45)
    pyplot.figure()
    pyplot.hist(np.arange(50.0) % 7, bins=10)
    pyplot.figure()
    pyplot.pie([1, 2, 3], labels=["a", "b", "c"], autopct="%1.1f%%")


def _images(pyplot):
    import numpy as np

    pyplot.imshow(np.arange(16.0).reshape(4, 4), cmap="coolwarm", interpolation="nearest")
    pyplot.colorbar()


def _panels(pyplot):
    figure, axes = pyplot.subplots(2, 2)
    axes[0, 0].barh(["a", "b"], [1, 2])
    axes[0, 1].boxplot([[1, 2, 3], [2, 3, 9]])
    axes[1, 0].step([1, 2, 3], [1, 2, 1])
    axes[1, 1].errorbar([1, 2], [1, 2], yerr=0.3)
    figure.suptitle("All")
    figure.tight_layout()


def _tables(pyplot):
    import pandas as pd

    table = pd.DataFrame({"a": [1, 2, 3], "b": [3, 1, 2]}, index=pd.date_range("2024-01-01", periods=3))
    table.plot(title="Title")
    table.plot(kind="bar")


def check_descriptors(preopens, limit=256):
    """Raises OSError naming every descriptor that would be dead in a session."""
    wrong = []
    for fd in range(3 + preopens, limit):
        try:
            info = os.fstat(fd)
        except OSError:
            continue
        kind = "folder" if stat.S_ISDIR(info.st_mode) else "file"
        wrong.append(f"{fd} ({kind}, {info.st_size} bytes, {_name(fd)})")
    if wrong:
        raise OSError("open when the snapshot is taken: " + ", ".join(wrong))


def _name(fd):
    for value in gc.get_objects():
        try:
            if issubclass(type(value), io.IOBase) and value.fileno() == fd:
                return f"held by {value!r}"
        except Exception:
            continue
    return "held by no Python file"
