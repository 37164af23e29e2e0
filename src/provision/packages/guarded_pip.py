"""Calls pip so that nothing of a package runs on this machine, and so that it chooses for the guest's Python.

Given to `python -c`, with a JSON object of marker values and then pip's own arguments. pip asked for wheels alone still
builds what a wheel's metadata or the user's settings point it at, and building runs the package's code, always in a
process of its own: so pip may start none. Whoever keeps the user's passwords for an index may be asked.
"""

import sys

# Nothing is imported from wherever the user happens to be.
sys.path[:] = [entry for entry in sys.path if entry not in ("", ".")]

import json
import ntpath
import runpy

STARTS = (
    "subprocess.Popen os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile os.startfile/2 pty.spawn"
).split()


def guard(event, arguments):
    if event not in STARTS:
        return
    program = arguments[0] if arguments else None
    if event == "subprocess.Popen" and isinstance(program, str) and ntpath.basename(program) in ("keyring", "keyring.exe"):
        return
    # An OSError, as pip expects one where a program is not installed.
    raise PermissionError("refused: it would start a program, as for building a package")


def choose_for(guest):
    """Lets `; sys_platform == "win32"` and its kind mean the guest. pip has no flag for it; where this does not work
    the choice is put right afterwards."""
    try:
        from pip._vendor.packaging import markers

        own = markers.default_environment
        markers.default_environment = lambda: dict(own(), **guest)
    except Exception:
        pass


sys.addaudithook(guard)
choose_for(json.loads(sys.argv[1]))
sys.argv[:] = ["pip"] + sys.argv[2:]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
