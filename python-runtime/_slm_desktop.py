"""What programs expect of the machine they run on, where this one has none of it: a person at a terminal, a user, a
disk, a network.

Depends on `_slm_wire`. `install` puts the stand-ins into the library's modules. Nothing here waits: standard input is
empty, and what would talk to a person says so and goes on. These functions serve the cells and decide nothing.
"""

import builtins
import cmd as _cmd
import errno as _errno
import getpass as _getpass
import http.client as _http_client
import os as _os
import pdb as _pdb
import platform as _platform
import shutil as _shutil
import smtplib as _smtplib
import socket as _socket
import sys
import time as _time
import urllib.request as _urllib_request
from collections import namedtuple as _namedtuple
from tempfile import TemporaryFile as _TemporaryFile

from _slm_alone import NETWORK as _NO_NETWORK
from _slm_wire import PRISTINE as __builtins__

#: Where all that a session keeps lies.
_KEPT = "/work", "/tmp"
_USER = "user"
_NO_INPUT = "standard input is empty: put the data into the code, or give it as a file (--file)"
_NO_TERMINAL = "there is no terminal here, so the program goes on"

_read_line, _libc_ver = builtins.input, _platform.libc_ver
_one_command, _debug_loop, _new_socket = _cmd.Cmd.onecmd, _pdb.Pdb._cmdloop, _socket.socket.__init__
_Usage = _namedtuple("usage", "total used free", module="shutil")
#: The empty standard input. A program may put a stream of its own in its place, and is then asked no questions.
_stdin = sys.stdin


def install():
    """Puts all but `input` in place, which is a builtin. Once, before the snapshot."""
    sys.breakpointhook = sys.__breakpointhook__ = _breakpoint
    _pdb.set_trace, _pdb.Pdb._cmdloop, _cmd.Cmd.onecmd = _set_trace, _goes_on, _command
    _getpass.getpass, _getpass.getuser = getpass, getuser
    _os.getlogin, _os.get_terminal_size, _shutil.disk_usage = getlogin, get_terminal_size, disk_usage
    _platform.libc_ver = libc_ver
    if not hasattr(_time, "thread_time"):  # the only thread's time is the process's
        _time.thread_time, _time.thread_time_ns = _time.process_time, _time.process_time_ns
    _install_network()


def input(prompt="", /):
    """Read a string from standard input.  The trailing newline is stripped.

    The prompt string, if given, is printed to standard output without a trailing newline before reading input.
    Standard input is empty here unless the program has put a stream of its own in its place.
    """
    if sys.stdin is not _stdin:
        return _read_line(prompt)
    try:
        return _read_line(prompt)
    except EOFError:
        pass
    raise EOFError(_NO_INPUT)


input.__module__ = "builtins"


def getpass(prompt="Password: ", stream=None, *, echo_char=None):
    """Prompt for a password: a line of standard input, which is empty here."""
    if sys.stdin is _stdin:
        raise EOFError(_NO_INPUT)
    print(prompt, end="", file=stream or sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.removesuffix("\n")


def getuser():
    """Get the username: of the environment where the program has set one, else the only one there is."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        user = _os.environ.get(name)
        if user:
            return user
    return _USER


def getlogin():
    """Return the actual login name."""
    return _USER


def get_terminal_size(fd=1, /):
    """Return the size of the terminal window, which is none."""
    raise OSError(_errno.ENOTTY, _os.strerror(_errno.ENOTTY))


def disk_usage(path):
    """Return disk usage statistics about the given path: of all that this session may keep in files.

    No call tells what is left, so a file without a name is made as long as it may be. Its zeros take no memory.
    """
    _os.stat(path)
    used = sum(
        _size(_os.path.join(folder, name)) for top in _KEPT for folder, _, names in _os.walk(top) for name in names
    )
    free = 0
    try:
        with _TemporaryFile(dir="/tmp") as file:
            free = _longest(file.fileno())
    except OSError:
        pass  # there is no room for one more file
    return _Usage(used + free, used, free)


def _size(path):
    try:
        return _os.stat(path).st_size
    except OSError:
        return 0


def _longest(fd, most=1 << 33):
    """The most bytes that the file may have."""
    fits = 0
    while fits < most:
        middle = (fits + most + 1) // 2
        try:
            _os.ftruncate(fd, middle)
            fits = middle
        except OSError:
            most = middle - 1
    return fits


def libc_ver(executable=None, lib="", version="", chunksize=16384):
    """The version of the C library that a file links; of the interpreter itself none is known."""
    return (lib, version) if executable is None else _libc_ver(executable, lib, version, chunksize)


def _breakpoint(*_, **__):
    _say_where("breakpoint()", sys._getframe(1))


def _set_trace(*, header=None, commands=None):
    if header is not None:
        print(header)
    _say_where("pdb.set_trace()", sys._getframe(1))


def _say_where(what, frame):
    print(f"{what} in {frame.f_code.co_filename}, line {frame.f_lineno}: {_NO_TERMINAL}", file=sys.stderr)


def _goes_on(self):
    """A debugger that nobody can speak to lets the program run."""
    if self.stdin is not _stdin:
        return _debug_loop(self)
    print(f"pdb: {_NO_TERMINAL}", file=sys.stderr)
    self.set_continue()


def _command(self, line):
    """`cmd.Cmd.onecmd`, which ends a loop of commands where its input has ended, whatever the program makes of that."""
    stop = _one_command(self, line)
    return stop or line == "EOF" and self.stdin is _stdin


def _install_network():
    names = "getaddrinfo gethostbyname gethostbyname_ex gethostbyaddr getnameinfo".split()
    for name in names:
        setattr(_socket, name, _resolve)
        setattr(sys.modules["_socket"], name, _resolve)
    _socket.socket.__init__ = _no_socket
    _socket.getfqdn = lambda name="": name or _socket.gethostname()
    if hasattr(_http_client, "HTTPSConnection"):
        return
    _http_client.HTTPSConnection = type("HTTPSConnection", (_http_client.HTTPConnection,), {
        "__module__": "http.client", "default_port": 443, "__init__": _https_init})
    _urllib_request.HTTPSHandler = type("HTTPSHandler", (_urllib_request.AbstractHTTPHandler,), {
        "__module__": "urllib.request", "https_open": _https_open,
        "https_request": _urllib_request.AbstractHTTPHandler.do_request_})
    _smtplib.SMTP_SSL = type("SMTP_SSL", (_smtplib.SMTP,), {"__module__": "smtplib"})


def _https_init(self, host, port=None, *, timeout=None, source_address=None, context=None, blocksize=16384):
    _http_client.HTTPConnection.__init__(self, host, port)


def _https_open(self, request):
    return self.do_open(_http_client.HTTPSConnection, request)


def _resolve(*_, **__):
    # As Linux numbers a name that could not be looked up.
    raise _socket.gaierror(-3, _NO_NETWORK)


def _no_socket(self, family=-1, type=-1, proto=-1, fileno=None):
    try:
        _new_socket(self, family, type, proto, fileno)
    except OSError as exc:
        wrong = exc
    else:
        return
    raise OSError(wrong.errno if fileno is not None else _errno.ENETUNREACH, _NO_NETWORK)
