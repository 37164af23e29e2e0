"""MIME bundles: what a value looks like, asked the way Jupyter asks, and the builtin `display`.

Depends on `_slm_wire`. Everything here calls methods that a cell wrote, so nothing they raise may pass, be it
SystemExit or KeyboardInterrupt; a method that never returns is the wall limit's business. The order of the questions
and what counts as an answer are IPython's (`IPython/core/formatters.py`); metadata has no place on the wire.
"""

from binascii import b2a_base64 as _base64
from itertools import islice as _islice
from json import JSONDecoder as _JSONDecoder
from json import JSONEncoder as _JSONEncoder
from types import MethodType as _MethodType

import _slm_wire as _wire
from _slm_wire import PRISTINE as __builtins__
from _slm_wire import exact as _exact

_to_json = _JSONEncoder().encode
_from_json = _JSONDecoder().decode

#: Jupyter's methods, the types they speak for, and what they may return.
_METHODS = (
    ("_repr_html_", "text/html", (str,)),
    ("_repr_markdown_", "text/markdown", (str,)),
    ("_repr_svg_", "image/svg+xml", (str,)),
    ("_repr_png_", "image/png", (bytes, str)),
    ("_repr_jpeg_", "image/jpeg", (bytes, str)),
    ("_repr_pdf_", "application/pdf", (bytes, str)),
    ("_repr_latex_", "text/latex", (str,)),
    ("_repr_json_", "application/json", (dict, list, str)),
    ("_repr_javascript_", "application/javascript", (str,)),
)
#: Types that certainly have none of these methods: the common results skip the search.
_PLAIN = frozenset((bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range))
_TYPES = 32
#: Formatters for types without methods of Jupyter's: (class, function). The function gets the value and the most bytes
#: that the bundle may have, returns a dictionary of types and data, and raises nothing.
formatters = []


def type_name(cls, _get=type.__dict__["__name__"].__get__):
    """A class's `__name__`, whatever its metaclass makes of that attribute."""
    return _exact(_get(cls))


def result(value):
    """The frame of a cell's result, or None when the value has shown itself."""
    limit = max(_wire.FRAME, _wire.DISPLAY)
    data = bundle(value, limit)
    # A text alone is cut where it was always cut; what is rich may be as large as a display.
    return data and _wire.bundle("result", data, _wire.FRAME if len(data) == 1 else limit)


def bundle(value, limit, include=None, exclude=None):
    """The value's MIME bundle, or None when it has an `_ipython_display_` that did all there is to do.

    `text/plain` is `repr`, unless a `_repr_mimebundle_` brings its own; when `repr` raises, a text that says so takes
    its place and the cell goes on, as in Jupyter (whose message goes to stderr instead)."""
    kind = type(value)
    if kind in _PLAIN and include is exclude is None:
        return {"text/plain": _plain(value)}
    data = {}
    # An object that answers to every name (a mock, some proxies) answers to this one.
    if kind not in _PLAIN and _ask(value, "_ipython_canary_method_should_not_exist_") is None:
        if _shows_itself(value):
            return None
        _ask_mimebundle(data, value, include, exclude)
        for cls, formatter in formatters:
            if issubclass(kind, cls):
                for mime, raw in formatter(value, limit).items():
                    if mime not in data and _wanted(mime, include, exclude):
                        put(data, mime, raw)
        for name, mime, types in _METHODS:
            if mime not in data and _wanted(mime, include, exclude):
                raw = _call(value, name)
                if issubclass(type(raw), types):
                    put(data, mime, raw)
    if "text/plain" not in data and _wanted("text/plain", include, exclude):
        data["text/plain"] = _plain(value)
    return data


def _plain(value):
    try:
        return _exact(repr(value))
    except BaseException as exc:
        return f"<{type_name(type(value))}: repr() raised {type_name(type(exc))}>"


def _wanted(mime, include, exclude):
    return (not include or mime in include) and (not exclude or mime not in exclude)


def _ask(value, name):
    try:
        return getattr(value, name, None)
    except BaseException:
        return None


def _method(value, name):
    method = _ask(value, name)
    # Classes have their instances' methods as functions; only what is bound to the class itself speaks for it.
    if issubclass(type(value), type) and type(method) is not _MethodType:
        return None
    return method if callable(method) else None


def _call(value, name):
    method = _method(value, name)
    if method is None:
        return None
    try:
        answer = method()
    except BaseException:
        return None
    # Jupyter's methods may return (data, metadata).
    return answer[0] if type(answer) is tuple and len(answer) == 2 else answer


def _shows_itself(value):
    method = _method(value, "_ipython_display_")
    if method is None:
        return False
    try:
        method()
    except BaseException:  # NotImplementedError is the way to say no
        return False
    return True


def _ask_mimebundle(data, value, include, exclude):
    method = _method(value, "_repr_mimebundle_")
    if method is None:
        return
    try:
        try:
            rich = method(include=include, exclude=exclude)
        except TypeError:
            rich = method()
    except BaseException:
        return
    if type(rich) is tuple and len(rich) == 2:
        rich = rich[0]
    if issubclass(type(rich), dict):
        for mime, raw in list(_islice(dict.items(rich), _TYPES)):
            if issubclass(type(mime), str) and _wanted(_exact(mime), include, exclude):
                put(data, _exact(mime), raw)


def put(data, mime, raw):
    """Adds one representation in its wire form: text as it is, bytes in base64, anything else as JSON."""
    try:
        if raw is None:
            return
        if issubclass(type(raw), str):
            text = _exact(raw)
            if mime == "application/json":
                _from_json(text)
        elif issubclass(type(raw), (bytes, bytearray)):
            text = _base64(raw, newline=False).decode()
        else:
            text = _to_json(raw)
        data[mime] = text
    except BaseException:
        return


class DisplayHandle:
    """What `display(…, display_id=…)` returns. A display that was sent cannot be changed: an update is one more."""

    def __init__(self, display_id=None):
        self.display_id = display_id if display_id is not None else f"{id(self):x}"

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, obj, **kwargs):
        display(obj, display_id=self.display_id, **kwargs)

    def update(self, obj, **kwargs):
        display(obj, display_id=self.display_id, **kwargs)


def display(*objects, include=None, exclude=None, raw=False, display_id=None, **_):
    """Shows each object as a MIME bundle, of the types that `include` names and `exclude` does not; `raw=True` takes
    bundles as they are. Other options of Jupyter's are accepted and mean nothing here."""
    for value in objects:
        if raw and issubclass(type(value), dict):
            data = {}
            for mime, text in list(_islice(dict.items(value), _TYPES)):
                if issubclass(type(mime), str):
                    put(data, _exact(mime), text)
        else:
            data = bundle(value, _wire.DISPLAY, include, exclude)
        if data and not _wire.send(_wire.bundle("display", data, _wire.DISPLAY)):
            raise RuntimeError("display: the host refused this object, for what one or all of them may take "
                               "(--max-display, --max-displays); print it instead")
    if display_id:
        return DisplayHandle(None if display_id is True else display_id)


# Shown by help() and repr() as the builtin it becomes.
display.__module__ = "builtins"
