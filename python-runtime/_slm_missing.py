"""Modules that are not here: why, and what is here instead.

Depends on `_slm_wire`. CPython's machinery raises `No module named 'x'`; `install` puts a look at the table below in
front of that, so that the reason is in the exception itself, for whoever prints it. The type and the name stay, asking
for a spec still answers None, and a module that is found never comes by here twice.
"""

import _frozen_importlib as _machinery
import sys
from builtins import BaseException as _Base
from traceback import TracebackException as _TracebackException

from _slm_alone import NETWORK as _NETWORK
from _slm_wire import PRISTINE as __builtins__

try:
    from _suggestions import _generate_suggestions as _nearest
except ImportError:
    _nearest = None

_specify = _machinery._find_spec
_initialise = _TracebackException.__init__
_text = _Base.__str__

_PLOTS = "use matplotlib or seaborn, which are here"
_SCREEN = "there is no screen here: draw with matplotlib"
_PROCESSES = "there are no processes here: use Python's own library"
_INSTALLING = "nothing can be installed from inside; --with NAME adds a pure-Python package"
_WINDOWS = "that is Windows' own"
_UNIX = "this interpreter is WebAssembly, which has no users, terminals and resource limits"
_COMPILED = "this interpreter is WebAssembly and loads no compiled code"

#: Names of modules, and what to say of them.
_TABLE = (
    (
        "requests httpx aiohttp urllib3 httplib2 pycurl websocket websockets paramiko scrapy selenium playwright "
        "boto3 botocore google googleapiclient openai anthropic yfinance tweepy praw slack_sdk telegram "
        "pandas_datareader wget yt_dlp pytube grpc kafka pika zmq uvicorn twisted tornado socketio ssl _ssl",
        _NETWORK,
    ),
    (
        "flask fastapi django starlette sanic bottle",
        "there is no network here, so nothing can be served: call the functions directly",
    ),
    (
        "tkinter _tkinter turtledemo pygame pyglet arcade kivy wx PyQt5 PyQt6 PySide2 PySide6 customtkinter pyautogui "
        "pynput keyboard mouse curses _curses _curses_panel vpython",
        _SCREEN,
    ),
    ("plotly bokeh altair holoviews hvplot plotnine folium pygal dash streamlit gradio pyecharts", _PLOTS),
    ("cv2 skimage imageio mahotas SimpleITK", "use PIL (pillow), numpy and scipy.ndimage, which are here"),
    ("pytesseract easyocr pyzbar moviepy ffmpeg", _COMPILED),
    ("polars pyarrow dask modin vaex fastparquet cudf datatable ibis pyspark", "use pandas, which is here"),
    ("duckdb psycopg2 psycopg pymysql MySQLdb mysql pymongo redis cx_Oracle pyodbc", "use sqlite3, which is here"),
    ("numba cupy numexpr bottleneck", "use numpy, which is here"),
    (
        "torch torchvision tensorflow keras jax flax transformers sentence_transformers onnx onnxruntime datasets",
        "use numpy and scikit-learn (sklearn), which are here",
    ),
    ("xgboost lightgbm catboost", "use sklearn.ensemble (HistGradientBoostingClassifier, …Regressor), which is here"),
    ("umap hdbscan imblearn", "use sklearn, which is here"),
    ("prophet pmdarima arch", "use statsmodels, which is here"),
    ("cvxpy ortools pulp gurobipy pyomo cplex", "use scipy.optimize (linprog, milp, minimize), which is here"),
    ("pymc pystan emcee", "use scipy.stats and numpy, which are here"),
    ("igraph graph_tool graphviz pydot pygraphviz", "use networkx, which is here"),
    (
        "shapely geopandas fiona rasterio pyproj cartopy",
        "use matplotlib and plain coordinates: nothing for maps is here",
    ),
    ("nltk spacy gensim textblob", "use re, collections.Counter and sklearn.feature_extraction.text, which are here"),
    ("Levenshtein rapidfuzz fuzzywuzzy thefuzz", "use difflib, which is here"),
    ("orjson ujson rapidjson msgpack cbor2", "use json, which is here"),
    ("h5py tables netCDF4 zarr", "use numpy.savez or sqlite3, which are here"),
    ("soundfile librosa pydub pyaudio sounddevice", "use wave and scipy.signal, which are here"),
    ("gmpy2", "use Python's own integers or mpmath, which is here"),
    ("Crypto cryptography nacl bcrypt", "use hashlib, hmac and secrets, which are here"),
    ("lz4 zstandard brotli snappy _zstd", "use zlib, bz2 or lzma, which are here"),
    ("pydantic msgspec", "use dataclasses or attrs, which are here"),
    ("fitz PyPDF2 pikepdf", "use pypdf to read and reportlab to write, which are here"),
    ("xlwt pyexcel win32com xlwings", "use openpyxl or xlsxwriter, which are here"),
    ("toml tomli", "use tomllib, which is here (tomli_w writes)"),
    ("pytz", "use zoneinfo, which is here"),
    ("pyperclip", "there is no clipboard here: print the text"),
    ("psutil docker pexpect ptyprocess sh invoke fabric", _PROCESSES),
    ("pip setuptools wheel ensurepip venv virtualenv conda distutils", _INSTALLING),
    ("pkg_resources", "use importlib.metadata or importlib.resources, which are here"),
    ("imp", "it left the library with Python 3.12: use importlib"),
    ("asyncore asynchat smtpd", "it left the library with Python 3.12: use asyncio"),
    (
        "cgi cgitb crypt nntplib telnetlib xdrlib uu pipes msilib sndhdr imghdr audioop aifc sunau chunk nis spwd "
        "ossaudiodev lib2to3",
        "it left the library with Python 3.13",
    ),
    (
        "_ctypes cffi Cython pyximport pybind11 _posixshmem _interpreters _interpchannels _interpqueues "
        "_remote_debugging",
        _COMPILED,
    ),
    ("readline termios tty pty pwd grp resource fcntl syslog _posixsubprocess _multiprocessing", _UNIX),
    ("msvcrt winreg winsound nt _winapi _wmi _overlapped win32api win32gui pywintypes", _WINDOWS),
    ("_scproxy", "that is macOS' own"),
    ("_dbm _gdbm", "use dbm.sqlite3 or shelve, which are here"),
    ("_decimal _uuid _hashlib", "its part in Python is here and is used instead"),
)
#: Where a distribution is not called like its module.
_DISTRIBUTIONS = {
    "dotenv": "python-dotenv", "docx": "python-docx", "pptx": "python-pptx", "slugify": "python-slugify",
    "faker": "Faker", "jwt": "PyJWT", "markdown": "Markdown", "odf": "odfpy",
}
#: What people misspell of what is here beside the library.
_PACKAGES = (
    "numpy pandas scipy sklearn matplotlib seaborn sympy networkx statsmodels PIL openpyxl xlsxwriter xlrd bs4 lxml html5lib "
    "tabulate tqdm yaml jinja2 reportlab pypdf regex attrs toolz more_itertools dateutil tomli_w xmltodict mpmath joblib"
).split()
_REASONS = {}


def install():
    """Puts the table in front of the import machinery and of the traceback's own words. Once, before the snapshot."""
    for names, reason in _TABLE:
        _REASONS.update(dict.fromkeys(names.split(), reason))
    _machinery._find_spec = _find_spec
    _TracebackException.__init__ = _described


def message(name):
    """What an import of `name` that finds nothing says."""
    plain = f"No module named {name!r}"
    if "." in name:
        return plain
    reason = _REASONS.get(name)
    if reason is not None:
        return f"{plain}: {reason}"
    near = _near(name)
    plain += ": a" if near is None else f". Did you mean: {near!r}? A"
    return (f"{plain} pure-Python package can be added with --with {_DISTRIBUTIONS.get(name, name)}, a module of your "
            f"own with --file {name}.py; `slm-code-interpreter packages` lists what is here")


def _near(name):
    """The module that was probably meant, or None."""
    if _nearest is None:
        return None
    # Of two that are as near the first counts.
    library = sys.stdlib_module_names.difference(_REASONS)
    return _nearest([*_PACKAGES, *(one for one in library if one[0] != "_")], name)


def _find_spec(name, path, target=None):
    """Stands in for the machinery's own. Only imports come through here: `importlib.util` kept the original."""
    spec = _specify(name, path, target)
    if spec is None:
        raise ModuleNotFoundError(message(name), name=name)
    return spec


# CPython takes frames of this file out of the traceback of an import that failed.
_find_spec.__code__ = _find_spec.__code__.replace(co_filename=_specify.__code__.co_filename)


def _described(self, exc_type, exc_value, *args, **kwargs):
    """`TracebackException.__init__`, which has words of its own about modules that are not found: they are about
    installations that this is not. What the exception says is said."""
    _initialise(self, exc_type, exc_value, *args, **kwargs)
    if type(exc_value) is ModuleNotFoundError:
        try:
            self._str = _text(exc_value)
        except BaseException:
            pass
