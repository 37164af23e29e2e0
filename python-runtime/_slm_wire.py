"""The frames that the driver sends to its host: one JSON document in UTF-8 each, every text bounded.

Imports nothing else of the driver. The host takes what is in a frame for data and never for truth, so this
module's only duties are valid JSON and a size the host accepts, whatever the texts are.
"""

import builtins
from json.encoder import encode_basestring as _encode

from _host import call as _call

#: The names the driver's own functions see. A cell may replace what the module `builtins` holds; a function
#: resolves bare names in the dictionary its globals call `__builtins__`, so every module of the driver binds
#: that to this private copy before it defines any function.
PRISTINE = dict(vars(builtins))
PRISTINE.pop("_", None)
__builtins__ = PRISTINE

FRAME = 1 << 20
#: The longest frame of a display; the session's own bound, once it has started.
DISPLAY = 4 << 20
MESSAGE = 16 << 10
TRACEBACK = 64 << 10
NAME = 256


def send(frame):
    """Sends one frame and says whether the host took it. A frame refused is not the cell's error."""
    try:
        _call(frame)
    except BaseException:
        return False
    return True


def exact(text):
    """The text as a plain `str` that has a UTF-8 form: no subclass's methods, no lone surrogates."""
    text = str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def head(text, limit):
    """The text in at most about `limit` bytes of UTF-8: its beginning, and a mark when that is not all."""
    if len(text) <= limit // 4 or (len(text) <= limit and len(exact(text).encode()) <= limit):
        return exact(text)
    kept = _first(text, limit - 64)
    return f"{kept}… ({len(text) - len(kept)} more characters)"


def ends(text, limit):
    """The text in at most about `limit` bytes of UTF-8: its beginning and its end, and the count between."""
    if len(text) <= limit // 4 or (len(text) <= limit and len(exact(text).encode()) <= limit):
        return exact(text)
    half = limit // 2 - 64
    first = _first(text, half)
    last = exact(text[-half:]).encode()[-half:].decode("utf-8", "ignore")
    return f"{first}\n… ({len(text) - len(first) - len(last)} more characters) …\n{last}"


def _first(text, limit):
    return exact(text[:limit]).encode()[:limit].decode("utf-8", "ignore")


def quote(text):
    """A JSON string."""
    return _encode(exact(text)).encode()


def quote_head(text, limit):
    """A JSON string of at most `limit` bytes, escapes counted."""
    kept = limit
    while True:
        quoted = quote(head(text, kept))
        if len(quoted) <= limit:
            return quoted
        # Escapes make up to six bytes of one. The ratio of the whole is a guess where the beginning is denser
        # than the rest, so the loop goes on; it shrinks each time.
        kept = max(128, min(kept - 1, min(kept, len(text) * 4) * limit // len(quoted)))


def error(kind, message, line, traceback):
    """The frame of an uncaught exception."""
    return b'{"kind":"error","type":%b,"message":%b,"line":%b,"traceback":%b}' % (
        quote(head(kind, NAME)),
        quote(head(message, MESSAGE)),
        b"null" if line is None else b"%d" % line,
        quote(ends(traceback, TRACEBACK)),
    )


def exit(code):
    """The frame of a SystemExit: the code as a C int."""
    return b'{"kind":"exit","code":%d}' % code


def bundle(kind, data, limit):
    """The frame of a MIME bundle (`result` or `display`).

    `text/plain` is cut when it is long. The other types mean nothing when cut: one that does not fit into what is left
    is left out. A limit of less than 2 KiB is kept by the host alone, which refuses what is longer.
    """
    left = max(limit - 1024, 1024)
    parts = []
    if "text/plain" in data:
        plain = quote_head(data["text/plain"], left if len(data) == 1 else left // 2)
        left -= len(plain)
        parts.append(b'"text/plain":' + plain)
    for mime, text in data.items():
        if mime == "text/plain" or len(mime) > NAME or len(text) > left:
            continue
        part = quote(mime) + b":" + quote(text)
        if len(part) < left:
            left -= len(part) + 1
            parts.append(part)
    return b'{"kind":"%b","data":{%b}}' % (kind.encode(), b",".join(parts))
