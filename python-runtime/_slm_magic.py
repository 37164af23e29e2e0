"""What notebooks write that is not Python: IPython's `%magic` and `!command` lines.

Depends on `_slm_wire`. Only a source that does not compile comes by here. Lines that set up a notebook mean nothing in
this place and are passed over; `%time` and `%timeit` run what they measure, once; everything else is refused with the
Python way to do it. Lines keep their numbers.
"""

from _slm_wire import PRISTINE as __builtins__

#: They change how a notebook looks or loads, and nothing that a program computes.
_HARMLESS = frozenset(
    "matplotlib config load_ext reload_ext unload_ext autoreload pylab precision xmode colors".split())
_MEASURING = frozenset(("time", "timeit", "prun", "memit"))
_INSTALLERS = ("pip", "pip3", "conda", "mamba", "uv", "apt", "apt-get", "python", "python3")
_PYTHON_WAY = {
    "cd": "os.chdir", "pwd": "os.getcwd()", "ls": "os.listdir()", "mkdir": "os.makedirs", "rm": "os.remove",
    "cp": "shutil.copy", "mv": "shutil.move", "cat": "open(…).read()", "writefile": "open(…, 'w').write",
    "file": "open(…, 'w').write", "run": "runpy.run_path", "env": "os.environ", "who": "dir()", "whos": "dir()",
    "load": "open(…).read()", "sql": "sqlite3", "wget": "--file", "curl": "--file", "git": "--file", "unzip": "zipfile",
    "tar": "tarfile", "head": "itertools.islice(open(…), 10)", "grep": "re.search", "find": "pathlib.Path.rglob",
    "wc": "len(open(…).readlines())", "echo": "print",
}
_INSTALLING = "nothing can be installed from inside (--with NAME adds a pure-Python package)"
#: More such lines than this are no notebook's.
_MOST = 200


def parse(source, name, flags):
    """Compiles the source with these lines taken out. Returns what `compile` returns, and notes for standard error.

    Raises the SyntaxError that a source without such lines has, or one that names the Python way.
    """
    written = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines, notes = list(written), []
    for _ in range(_MOST):
        try:
            return compile("\n".join(lines), name, "exec", flags, True), notes
        except SyntaxError as exc:
            wrong = exc
        number = wrong.lineno
        if type(number) is not int or not 0 < number <= len(lines):
            break
        line = lines[number - 1]
        try:
            kept = _python(line, notes)
        except _NotPython as told:
            raise SyntaxError(told.args[0], (name, number, len(line) - len(line.lstrip()) + 1, line)) from None
        if kept is None:
            break
        lines[number - 1] = kept
        while line.endswith("\\") and number < len(lines):  # it goes on
            line, lines[number] = lines[number], ""
            number += 1
    if lines != written and type(wrong.lineno) is int and 0 < wrong.lineno <= len(written):
        wrong.text = written[wrong.lineno - 1]  # rather than what stands in for it
    raise wrong from None


class _NotPython(Exception):
    """What such a line should be instead."""


def _python(line, notes):
    """The line as Python, or None where it is none of IPython's."""
    text = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    if text[:1] == "!":
        return indent + _command(text.lstrip("!"), text, notes)
    if text[:1] == "%":
        return indent + _magic(text, notes)
    target, sign, rest = text.partition("=")
    if sign and target.strip().isidentifier() and rest.lstrip()[:1] in ("!", "%"):
        raise _NotPython(f"IPython's `{rest.strip()[:60]}` is not here: {_way(rest.strip()[1:])}")
    if text.endswith("?") and text.rstrip("?").replace(".", "_").isidentifier():
        raise _NotPython(f"IPython's `{text[:60]}` is not here: call help({text.rstrip('?')})")
    return None


def _magic(text, notes):
    cell = text.startswith("%%")
    name, _, rest = text.lstrip("%").partition(" ")
    if name in _HARMLESS or cell and name == "capture":
        return "pass"
    if name in _MEASURING:
        notes.append(f"`%{name}` measures nothing here: what follows runs once")
        if cell:
            return "pass"
        rest = rest.strip()
        while rest.startswith("-"):  # -n 10, -r3, -o
            option, _, rest = rest.partition(" ")
            if option in ("-n", "-r", "-p"):
                rest = rest.strip().partition(" ")[2]
            rest = rest.strip()
        return rest or "pass"
    if name in _INSTALLERS:
        return _command(text.lstrip("%"), text, notes)
    raise _NotPython(f"IPython's `{text[:60]}` is not here: {_way(text.lstrip('%'))}")


def _command(command, text, notes):
    words = command.split()
    if words and words[0] in _INSTALLERS and "install" in words:
        notes.append(f"`{text[:80]}` is passed over: {_INSTALLING}")
        return "pass"
    raise _NotPython(f"`{text[:60]}` is a shell's: there is no shell here: {_way(command)}")


def _way(command):
    word = (command.split() or [""])[0]
    way = _PYTHON_WAY.get(word)
    if way == "--file":
        return "give the data as a file (--file)"
    return f"use {way}" if way else "write it in Python"
