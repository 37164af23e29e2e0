"""MIME bundles: what a value looks like, asked the way Jupyter asks, and the builtin `display`.

Depends on `_slm_wire`. Everything here calls methods that a cell wrote, so nothing they raise may pass, be it
SystemExit or KeyboardInterrupt; a method that never returns is the wall limit's business.
"""

from binascii import b2a_base64 as _base64
from json import JSONEncoder as _JSONEncoder

import _slm_wire as _wire
from _slm_wire import PRISTINE as __builtins__
from _slm_wire import exact as _exact

_to_json = _JSONEncoder().encode

#: Jupyter's methods, and the types they speak for.
_METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
    ("_repr_json_", "application/json"),
)
#: Types that certainly have none of these methods: the common results skip the search.
_PLAIN = frozenset((bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range))
_TYPES = 32


def type_name(cls, _get=type.__dict__["__name__"].__get__):
    """A class's `__name__`, whatever its metaclass makes of that attribute."""
    return _exact(_get(cls))


def bundle(value):
    """The value's MIME bundle. `text/plain` is `repr`; when that raises, a text that says so takes its place and the
    cell goes on, as in Jupyter (whose message goes to stderr instead)."""
    try:
        plain = _exact(repr(value))
    except BaseException as exc:
        plain = f"<{type_name(type(value))}: repr() raised {type_name(type(exc))}>"
    data = {"text/plain": plain}
    # Classes have their instances' methods as functions; Jupyter leaves them alone too.
    if type(value) in _PLAIN or issubclass(type(value), type):
        return data
    # An object that answers to every name (a mock, some proxies) answers to this one.
    if _ask(value, "_ipython_canary_method_should_not_exist_") is not None:
        return data
    rich = _call(value, "_repr_mimebundle_")
    if issubclass(type(rich), dict):
        for mime, raw in list(dict.items(rich))[:_TYPES]:
            if issubclass(type(mime), str) and mime != "text/plain":
                _put(data, mime, raw)
    for name, mime in _METHODS:
        if mime not in data:
            _put(data, mime, _call(value, name))
    return data


def _ask(value, name):
    try:
        return getattr(value, name, None)
    except BaseException:
        return None


def _call(value, name):
    method = _ask(value, name)
    if method is None:
        return None
    try:
        answer = method()
    except BaseException:
        return None
    # Jupyter's methods may return (data, metadata).
    return answer[0] if type(answer) is tuple and len(answer) == 2 else answer


def _put(data, mime, raw):
    """Adds one representation in its wire form: text as it is, bytes in base64, anything else as JSON."""
    try:
        if raw is None:
            return
        if issubclass(type(raw), str) and mime != "application/json":
            text = _exact(raw)
        elif issubclass(type(raw), (bytes, bytearray)):
            text = _base64(raw, newline=False).decode()
        else:
            text = _to_json(raw)
        data[_exact(mime)] = text
    except BaseException:
        return


def display(*objects, raw=False, **_):
    """Shows each object as a MIME bundle; `raw=True` takes bundles as they are. Other options of Jupyter's are
    accepted and mean nothing here."""
    for value in objects:
        if raw and issubclass(type(value), dict):
            data = {"text/plain": ""}
            for mime, text in list(dict.items(value))[:_TYPES]:
                _put(data, mime, text)
        else:
            data = bundle(value)
        if not _wire.send(_wire.bundle("display", data, _wire.DISPLAY)):
            raise RuntimeError("display: the host refused this object; print it instead")


# Shown by help() and repr() as the builtin it becomes.
display.__module__ = "builtins"
