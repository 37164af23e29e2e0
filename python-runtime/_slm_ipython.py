"""What programs written for notebooks import of IPython: `IPython.display` with its classes, and no shell.

Depends on `_slm_bundle`. Serves cells only: the modules are made when a cell first imports them, by a finder behind all
others, so that an IPython of the user's own goes first. The classes give the MIME bundles that IPython's give (those of
9.18 were compared), but do not fetch, and colour no code.
"""

import sys
from base64 import b64encode
from html import escape
from importlib import import_module
from importlib.machinery import ModuleSpec
from mimetypes import guess_type
from os import PathLike, fspath
from os.path import abspath, exists, isdir

from _slm_bundle import DisplayHandle, display

VERSION = (9, 18, 1)


class DisplayObject:
    """Data of one MIME type, given as such, as the name of a file, or as a URL."""

    _mode = "r"
    metadata = None

    def __init__(self, data=None, url=None, filename=None, metadata=None):
        if isinstance(data, PathLike):
            data = fspath(data)
        if isinstance(data, str):
            if data.startswith("http") and url is None:
                data, url, filename = None, data, None
            elif filename is None and _is_file(data):
                data, url, filename = None, None, data
        self.url, self.filename = url, filename
        self.data = data
        self.metadata = metadata if metadata is not None else self.metadata or {}
        self.reload()
        self._check_data()

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} object>"

    def _check_data(self):
        pass

    def reload(self):
        """Reads the data from its file or URL again."""
        if self.filename is not None:
            with open(self.filename, self._mode, encoding=None if "b" in self._mode else "utf-8") as file:
                self.data = file.read()
        elif self.url is not None:
            from urllib.request import urlopen

            data = urlopen(self.url).read()
            self.data = data if "b" in self._mode else data.decode("utf-8", "replace")

    def _data_and_metadata(self):
        return (self.data, dict(self.metadata)) if self.metadata else self.data


def _is_file(text):
    try:
        return exists(text)
    except Exception:
        return False


class TextDisplayObject(DisplayObject):
    def _check_data(self):
        if self.data is not None and not isinstance(self.data, str):
            raise TypeError(f"{type(self).__name__} expects text, not {self.data!r}")


class Pretty(TextDisplayObject):
    def __repr__(self):
        return self.data


class HTML(TextDisplayObject):
    def _repr_html_(self):
        return self._data_and_metadata()

    __html__ = _repr_html_


class Markdown(TextDisplayObject):
    def _repr_markdown_(self):
        return self._data_and_metadata()


class Latex(TextDisplayObject):
    def _repr_latex_(self):
        return self._data_and_metadata()


class Math(TextDisplayObject):
    def _repr_latex_(self):
        return rf"$\displaystyle {self.data.strip('$')}$"


class Javascript(TextDisplayObject):
    def __init__(self, data=None, url=None, filename=None, lib=None, css=None):
        super().__init__(data, url, filename)

    def _repr_javascript_(self):
        return self.data


class Code(TextDisplayObject):
    def __init__(self, data=None, url=None, filename=None, language=None):
        self.language = language
        super().__init__(data, url, filename)

    def __repr__(self):
        return self.data

    def _repr_html_(self):
        language = f' class="language-{escape(self.language)}"' if self.language else ""
        return f"<pre><code{language}>{escape(self.data)}</code></pre>"


class SVG(DisplayObject):
    """An SVG drawing; what stands before its `<svg>` is left out."""

    _mode = "rb"
    _data = None

    @property
    def data(self):
        return self._data

    @data.setter
    def data(self, svg):
        if svg is not None:
            from xml.dom import minidom

            found = minidom.parseString(svg).getElementsByTagName("svg")
            svg = found[0].toxml() if found else svg
        self._data = svg.decode(errors="replace") if isinstance(svg, bytes) else svg

    def _repr_svg_(self):
        return self._data_and_metadata()


class JSON(DisplayObject):
    _data = None

    def __init__(self, data=None, url=None, filename=None, expanded=False, metadata=None, root="root", **kwargs):
        super().__init__(data, url, filename, {"expanded": expanded, "root": root} | (metadata or {}) | kwargs)

    @property
    def data(self):
        return self._data

    @data.setter
    def data(self, data):
        if isinstance(data, str):
            import json

            data = json.loads(data)
        self._data = data

    def _check_data(self):
        if self.data is not None and not isinstance(self.data, (dict, list)):
            raise TypeError(f"{type(self).__name__} expects JSONable dict or list, not {self.data!r}")

    def _repr_json_(self):
        return self.data, self.metadata


#: Formats of images, and what their files begin with.
_IMAGES = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8", "gif": b"GIF8", "webp": b"RIFF"}


class Image(DisplayObject):
    """A picture: its bytes, the name of its file, or a URL that is left to the reader."""

    _mode = "rb"

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None,
                 retina=False, unconfined=False, metadata=None, alt=None):
        data = fspath(data) if isinstance(data, PathLike) else data
        if filename is None and url is None and data is None:
            raise ValueError("No image data found. Expecting filename, url, or data.")
        if isinstance(data, str) and not data.startswith("http") and not _is_file(data):
            raise FileNotFoundError(f"No such file or directory: '{data}'")
        self.embed = url is None if embed is None else embed
        self.format = (format or self._guess(data, url, filename)).lower().replace("jpg", "jpeg")
        if self.embed and self.format not in _IMAGES:
            raise ValueError(f"Cannot embed the '{self.format}' image format")
        self.width, self.height, self.unconfined, self.alt = width, height, unconfined, alt
        super().__init__(data, url, filename, metadata)
        if retina and self.embed:
            from io import BytesIO

            from PIL import Image as pillow

            self.width, self.height = (side // 2 for side in pillow.open(BytesIO(self.data)).size)

    @staticmethod
    def _guess(data, url, filename):
        name = filename or url or (data if isinstance(data, str) else None)
        if name is not None:
            return fspath(name).rpartition(".")[2]
        return next((name for name, magic in _IMAGES.items() if bytes(data).startswith(magic)), "png")

    def reload(self):
        if self.embed:
            super().reload()

    def _repr_html_(self):
        if not self.embed:
            sides = {"width": self.width, "height": self.height}
            sides = "".join(f' {name}="{side:d}"' for name, side in sides.items() if side)
            rest = ' class="unconfined"' * bool(self.unconfined) + (f' alt="{escape(self.alt)}"' if self.alt else "")
            return f'<img src="{escape(self.url or self.filename or "")}"{sides}{rest}/>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        if not self.embed:
            return {"text/html": self._repr_html_()}
        return {f"image/{self.format}": self.data}


class Audio(DisplayObject):
    """Sound: a file's bytes or name, or samples (numbers, an array for each channel) with their `rate`."""

    _mode = "rb"

    def __init__(self, data=None, filename=None, url=None, embed=None, rate=None, autoplay=False, normalize=True, *,
                 element_id=None):
        if filename is None and url is None and data is None:
            raise ValueError("No audio data found. Expecting filename, url, or data.")
        self.embed = url is None or embed is True
        self.autoplay, self.element_id = autoplay, element_id
        super().__init__(data, url, filename)
        if self.data is not None and not isinstance(self.data, bytes):
            if rate is None:
                raise ValueError("rate must be specified when data is a numpy array or list of audio samples.")
            self.data = self._wav(self.data, rate, normalize)

    def reload(self):
        if self.embed:
            super().reload()
        name = self.filename or self.url
        self.mimetype = guess_type(name)[0] if name else "audio/wav"

    @staticmethod
    def _wav(data, rate, normalize):
        import io
        import wave

        import numpy as np

        data = np.array(data, dtype=float)
        if data.ndim not in (1, 2):
            raise ValueError("Array audio input must be a 1D or 2D array")
        most = np.max(np.abs(data))
        if not normalize and most > 1:
            raise ValueError("Audio data must be between -1 and 1 when normalize=False.")
        file = io.BytesIO()
        with wave.open(file, "wb") as out:
            out.setparams((1 if data.ndim == 1 else len(data), 2, rate, 0, "NONE", "NONE"))
            out.writeframes((data.T.ravel() / (most if normalize else 1) * 32767).astype("<h").tobytes())
        return file.getvalue()

    def _repr_html_(self):
        data = f"data:{self.mimetype};base64,{b64encode(self.data).decode()}" if self.embed else escape(self.url)
        name = f'id="{escape(self.element_id)}"' if self.element_id else ""
        return f"""
                <audio {name} controls="controls" {'autoplay="autoplay"' if self.autoplay else ""}>
                    <source src="{data}" type="{self.mimetype}" />
                    Your browser does not support the audio element.
                </audio>
              """


class IFrame:
    def __init__(self, src, width, height, extras=(), **params):
        self.src, self.width, self.height, self.extras, self.params = src, width, height, extras, params

    def _repr_html_(self):
        from urllib.parse import urlencode

        params = "?" + urlencode(self.params) if self.params else ""
        return f"""
        <iframe
            width="{escape(str(self.width))}"
            height="{escape(str(self.height))}"
            src="{escape(str(self.src))}{params}"
            frameborder="0"
            allowfullscreen
            referrerpolicy="strict-origin-when-cross-origin"
            {" ".join(self.extras)}
        ></iframe>
        """


class FileLink:
    def __init__(self, path, url_prefix="", result_html_prefix="", result_html_suffix="<br>"):
        if isdir(path):
            raise ValueError(f"Cannot display a directory using FileLink: {path!r}")
        self.path = fspath(path)
        self._around = result_html_prefix, url_prefix, result_html_suffix

    def __repr__(self):
        return abspath(self.path)

    def _repr_html_(self):
        before, prefix, after = self._around
        return f"{before}<a href='{prefix}{escape(self.path)}' target='_blank'>{escape(self.path, False)}</a>{after}"


class ProgressBar(DisplayObject):
    """A bar that is displayed where its `display` is called, and once more where an iteration over it ends."""

    def __init__(self, total):
        self.total, self.progress = total, 0

    def __repr__(self):
        filled = int(60 * self.progress / self.total) if self.total else 0
        return f"[{'=' * filled:<60}] {self.progress}/{self.total}"

    def _repr_html_(self):
        return f"<progress style='width:60ex' max='{self.total}' value='{self.progress}'></progress>"

    def display(self):
        display(self)

    def update(self):
        pass

    def __iter__(self):
        self.display()
        for self.progress in range(self.total):
            yield self.progress
        self.progress = self.total
        self.display()


def _one_type(name, mime):
    def show(*objects, raw=False, metadata=None):
        display(*({mime: value} for value in objects) if raw else objects, raw=raw, include=[mime])

    show.__name__ = show.__qualname__ = name
    return show


def clear_output(wait=False):
    """Does nothing: what was shown stays shown."""


def update_display(obj, *, display_id, **kwargs):
    """Displays `obj` once more: what was shown stays as it was."""
    display(obj, display_id=display_id, **kwargs)


def publish_display_data(data, metadata=None, **_):
    display(data, raw=True)


def get_ipython():
    """None: this is plain Python, not IPython's shell."""


def set_matplotlib_formats(*formats, **kwargs):
    """Does nothing: figures are displayed as PNG."""


class InteractiveShell:
    """Its settings can be set, and mean nothing."""

    ast_node_interactivity = "last_expr"

    @staticmethod
    def initialized():
        return False


_TYPES = {"pretty": "text/plain", "html": "text/html", "markdown": "text/markdown", "svg": "image/svg+xml",
          "png": "image/png", "jpeg": "image/jpeg", "latex": "text/latex", "json": "application/json",
          "javascript": "application/javascript", "pdf": "application/pdf"}
_LIB = (Audio, Code, FileLink, IFrame)
_CORE = (DisplayObject, TextDisplayObject, Pretty, HTML, Markdown, Latex, Math, Javascript, SVG, JSON, Image,
         ProgressBar)
for _class in _LIB + _CORE:
    _class.__module__ = "IPython.lib.display" if _class in _LIB else "IPython.core.display"
_display = {"display": display, "clear_output": clear_output, "update_display": update_display,
            "publish_display_data": publish_display_data, "DisplayHandle": DisplayHandle,
            "set_matplotlib_formats": set_matplotlib_formats}
_display |= {value.__name__: value for value in _LIB + _CORE}
_display |= {f"display_{kind}": _one_type(f"display_{kind}", mime) for kind, mime in _TYPES.items()}
_shell = {"get_ipython": get_ipython, "InteractiveShell": InteractiveShell}
_version = {"__version__": ".".join(map(str, VERSION)), "version_info": (*VERSION, "")}
#: Each module and what it holds.
_MODULES = {"IPython": _shell | _version, "IPython.core": {}, "IPython.lib": {}, "IPython.display": _display,
            "IPython.core.display": _display, "IPython.core.display_functions": _display,
            "IPython.lib.display": _display,
            "IPython.core.interactiveshell": _shell, "IPython.core.getipython": _shell, "matplotlib_inline": {},
            "matplotlib_inline.backend_inline": {"set_matplotlib_formats": set_matplotlib_formats}}


class _Finder:
    """Finds the modules above when nothing else does, and makes them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _MODULES:
            return ModuleSpec(name, _Finder, is_package=any(other.startswith(name + ".") for other in _MODULES))

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        vars(module).update(_MODULES[module.__name__])
        if module.__name__ == "IPython":
            module.display = import_module("IPython.display")
        elif module.__name__ == "matplotlib_inline.backend_inline":
            module.FigureCanvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg


def install():
    """Makes the modules importable. Before the snapshot; once."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)
