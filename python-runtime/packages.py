"""What the host asks a guest about packages: does a choice of wheels hold here, and what are its modules as bytecode.

It runs as a cell of a session of its own, whose `/work` holds the wheels. Wheels are untrusted; nothing in them is run.
"""

import importlib.metadata
import importlib.util
import json
import marshal
import os
import re
import sys
import warnings
import zipfile
from email.parser import HeaderParser

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

WORK = "/work"
#: Where sessions see the packages.
TARGET = "/usr/local/lib/packages"
MOST_METADATA = 4 << 20


def normal(name):
    """A name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def wheels(folder=WORK):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".whl")]


def metadata(path):
    """The headers of a wheel's METADATA. Raises ValueError when there is not one alone."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", info.filename)]
        if len(members) != 1 or members[0].file_size > MOST_METADATA:
            raise ValueError("it does not hold one METADATA")
        return HeaderParser().parsestr(archive.read(members[0]).decode("utf-8", "replace"))


class Check:
    """Walks what the requested packages need, as far as it is needed here."""

    def __init__(self, folder=WORK, inside=None):
        self.needed, self.missing, self.wrong = set(), [], []
        self.found = {}
        for path in wheels(folder):
            file = os.path.basename(path)
            try:
                head = metadata(path)
                name, version = normal(head["Name"] or ""), Version(head["Version"] or "")
                if normal(file.split("-")[0]) != name or Version(file.removesuffix(".whl").split("-")[1]) != version:
                    raise ValueError(f"its METADATA is of {name} {version}")
            except (ValueError, InvalidVersion, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
                self.wrong.append(f"{file} is no sound wheel: {error}")
                continue
            self.found[name] = version, head.get_all("Requires-Dist") or []
        distributions = importlib.metadata.distributions() if inside is None else inside
        self.inside = {normal(one.name): (Version(one.version), one.requires or []) for one in distributions}

    def walk(self, requested):
        """`requested` are the lines of the request; it fills `needed`, `missing` and `wrong`."""
        waiting = [(line, frozenset(), None) for line in requested]
        seen = set()
        while waiting:
            line, extras, whose = waiting.pop()
            try:
                requirement = Requirement(line)
                if requirement.marker and not any(
                    requirement.marker.evaluate({"extra": extra}) for extra in extras or ("",)
                ):
                    continue
            except (InvalidRequirement, ValueError, LookupError) as error:
                self._wrong(whose, line, f"which cannot be read ({type(error).__name__})")
                continue
            name = normal(requirement.name)
            if requirement.url:
                self._wrong(whose, line, "which is an address; only packages of the index are taken")
                continue
            kept = self.inside.get(name) or self.found.get(name)
            if kept is None:
                requirement.marker = None
                if str(requirement) not in self.missing:
                    self.missing.append(str(requirement))
                continue
            version, requires = kept
            if not requirement.specifier.contains(version, prereleases=True):
                place = "inside and stays" if name in self.inside else "chosen"
                self._wrong(whose, line, f"and {version} is {place}")
                continue
            if name not in self.inside:
                self.needed.add(name)
            for extra in requirement.extras | ({""} if name not in self.inside else set()):
                if (name, extra) not in seen:
                    seen.add((name, extra))
                    # Of a package inside, what an extra adds; all else it needs is inside as well.
                    waiting += [
                        (one, frozenset((normal(extra), extra)), f"{name} {version}")
                        for one in requires
                        if extra == "" or "extra" in one
                    ]

    def _wrong(self, whose, line, why):
        said = f"{whose} needs {line}, {why}" if whose else f"{line} is asked for, {why}"
        if said not in self.wrong:
            self.wrong.append(said)


def check(requested, offered):
    """Says as JSON what of the wheels is needed for the lines `requested`, what is missing, and what is wrong. `offered`
    are other versions of packages that exist: the newest is told where an older one was chosen."""
    checked = Check()
    checked.walk(requested)
    older = []
    for name, versions in offered.items():
        newest = max((version for version in map(release, versions) if version), default=None)
        chosen = checked.found.get(name)
        if chosen and newest and newest > chosen[0]:
            older.append([name, str(chosen[0]), str(newest)])
    told = {"needed": sorted(checked.needed), "missing": checked.missing, "wrong": checked.wrong, "older": older}
    return json.dumps(told)


def release(text):
    """The version, unless it is one for trying out."""
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    return None if version.is_prerelease else version


def module(name):
    """Where a wheel's member goes, as the host decides it; None for what is no module's source."""
    first, _, rest = name.partition("/")
    if first.endswith(".data"):
        kind, _, name = rest.partition("/")
        if kind not in ("purelib", "platlib"):
            return None
    return name if name.endswith(".py") else None


def bytecode(source, name):
    """A `.pyc` that is taken without a look at its source, which never changes; None for what does not compile."""
    try:
        code = compile(source, f"{TARGET}/{name}", "exec", dont_inherit=True)
        head = importlib.util.MAGIC_NUMBER + (0b01).to_bytes(4, "little") + importlib.util.source_hash(source)
        return head + marshal.dumps(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def compile_all(folder=WORK, out=WORK + "/compiled.zip"):
    """Writes the bytecode of all modules into one archive, under the names that Python looks for."""
    seen = set()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")
        for path in wheels(folder):
            with zipfile.ZipFile(path) as wheel:
                for info in wheel.infolist():
                    name = module(info.filename)
                    if name is None or name in seen:
                        continue
                    # The first wheel's file is the one that stays.
                    seen.add(name)
                    compiled = bytecode(wheel.read(info), name)
                    if compiled is not None:
                        above, _, file = name.rpartition("/")
                        tagged = f"__pycache__/{file.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"
                        archive.writestr(zipfile.ZipInfo(f"{above}/{tagged}" if above else tagged), compiled)
