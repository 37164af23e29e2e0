"""pyperformance's pure-Python benchmarks in this machine's Python and in the sandbox, as one table. See README.md."""

import argparse
import base64
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PACKAGES = """pyperformance==1.14.0 --hash=sha256:94068ac2935b6952ccb5e8a302eb9cebc26e82454494bef6e53822738adf0049
pyaes==1.6.1 --hash=sha256:02c1b1405c38d3c370b085fb952dd8bea3fadcee6411ad99f312cc129c536d8f
"""
#: Those of the package that need neither a process nor a network, nor another package but `pyaes`.
BENCHMARKS = """argparse async_generators barnes_hut bpe_tokeniser chaos comprehensions coroutines crypto_pyaes deepcopy
deltablue fannkuch float generators go hexiom json_dumps json_loads logging mdp meteor_contest nbody nqueens pickle pidigits
pprint pyflate raytrace regex_compile regex_dna regex_effbot regex_v8 richards richards_super scimark spectral_norm
sqlite_synth typing_runtime_protocols unpack_sequence xml_etree""".split()
#: Told apart, outside the mean: `decimal` has no C here, and walking folders is a matter of files.
APART = ["pathlib", "telco"]
#: Rows whose time goes into modules written in C rather than into Python code: a mean is told with and without them.
IN_C = """json_dumps json_loads pickle unpickle pickle_list pidigits regex_dna regex_effbot regex_v8 sqlite_synth
xml_etree_parse xml_etree_iterparse xml_etree_generate xml_etree_process""".split()
#: What a benchmark is called with, where its defaults do not suffice; several stand for as many benchmarks.
ARGUMENTS = {
    "argparse": [["many_optionals"], ["subparsers"]],
    "logging": [["format"], ["silent"], ["simple"]],
    "pickle": [["pickle"], ["unpickle"], ["pickle_list"], ["--pure-python", "pickle"], ["--pure-python", "unpickle"]],
    "xml_etree": [["parse"], ["iterparse"], ["generate"], ["process"]],
}
LIMITS = ["--timeout", "120", "--memory", "2048", "--scratch", "256", "--entries", "10000"]
PROGRAM = """
import base64, os, sys, zlib
files = {files!r}
for name, packed in files.items():
    os.makedirs(os.path.dirname("benchmark/" + name), exist_ok=True)
    with open("benchmark/" + name, "wb") as file:
        file.write(zlib.decompress(base64.b64decode(packed)))
folder = os.path.abspath("benchmark")
exec(compile({stub!r}, "pyperf_stub.py", "exec"), {{"__name__": "pyperf_stub"}})
sys.path.insert(0, folder)
sys.argv = [folder + "/run_benchmark.py", *{arguments!r}]
with open(sys.argv[0], encoding="utf-8") as file:
    source = file.read()
names = globals()
names["__file__"] = sys.argv[0]
exec(compile(source, sys.argv[0], "exec"), names)
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the benchmarks, kept between runs")
    parser.add_argument("--python", default="python3", help="the Python to compare with (default: python3)")
    parser.add_argument("--program", type=pathlib.Path, help="the built program (default: built with cargo)")
    parser.add_argument("--metering", action="append", help="passed on to the program; several make a column each")
    parser.add_argument("--rounds", type=int, default=3, help="how often each has its turn; the best counts (default: 3)")
    parser.add_argument("--only", nargs="*", help="only these benchmarks")
    return parser.parse_args()


def main():
    asked = arguments()
    asked.work.mkdir(parents=True, exist_ok=True)
    benchmarks = fetched(asked.work)
    program = asked.program or built()
    sides = {"python": [asked.python]}
    for metering in asked.metering or [None]:
        name = f"metering {metering}" if metering else "sandbox"
        sides[name] = [str(program.resolve()), "exec", *LIMITS, *(["--metering", metering] if metering else [])]
    print(told(asked.python), flush=True)
    chosen = [name for name in BENCHMARKS + APART if not asked.only or name in asked.only]
    heads = ["benchmark", *(f"{side}, ms" for side in sides), *(f"{side} to python" for side in list(sides)[1:])]
    print("\n| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    ratios = {side: {} for side in list(sides)[1:]}
    for name in chosen:
        for row, times in measured(name, benchmarks, sides, asked.rounds).items():
            show(row, times, sides, {} if name in APART else ratios)
    apart = " ".join(name for name in APART if name in chosen)
    mean(f"all{f' but {apart}' if apart else ''}", ratios, sides, ())
    mean("those in Python code", ratios, sides, IN_C)


def mean(which, ratios, sides, without):
    """A line with the geometric mean of each side's ratios, rows `without` left out."""
    chosen = [[ratio for row, ratio in found.items() if row not in without] for found in ratios.values()]
    counts = ", ".join(str(len(some)) for some in chosen)
    means = [math.exp(math.fsum(map(math.log, some)) / max(len(some), 1)) for some in chosen]
    cells = [""] * len(sides) + [f"**{ratio:.2f}**" for ratio in means]
    print(f"| geometric mean of {which} ({counts}) | " + " | ".join(cells) + " |")


def fetched(work):
    """The folder of the benchmarks, brought and checked by pip."""
    folder = work / "pyperformance" / "data-files" / "benchmarks"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=work) as temporary:
            brought = pathlib.Path(temporary)
            (brought / "requirements.txt").write_text(PACKAGES)
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
                 "-r", "requirements.txt"], cwd=brought, check=True)
            with tarfile.open(next(brought.glob("pyaes-*.tar.gz"))) as archive:
                archive.extractall(brought, filter="data")
            with zipfile.ZipFile(next(brought.glob("pyperformance-*.whl"))) as wheel:
                wheel.extractall(brought, [name for name in wheel.namelist() if "/data-files/benchmarks/" in name])
            staged = brought / folder.relative_to(work)
            shutil.copytree(next(brought.glob("pyaes-*/pyaes")), staged / "bm_crypto_pyaes" / "pyaes")
            (brought / "pyperformance").rename(work / "pyperformance")
    return folder


def built():
    command = ["cargo", "build", "--release", "--message-format=json"]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in made.splitlines()]
    return pathlib.Path(next(line["executable"] for line in lines if line.get("executable")))


def told(python):
    """Which Python the sandbox is set beside, and whether it was built with the usual optimisations."""
    code = """import sys, sysconfig
has = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
print(sys.executable, sys.version.split()[0], "with" if has else "without", "PGO")"""
    ended = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"Beside {ended.stdout.strip()}, the best of some runs each, in turn."


def text(folder, argv):
    """The benchmark as one program that brings its own files."""
    packed = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".toml" and "__pycache__" not in path.parts:
            packed[path.relative_to(folder).as_posix()] = base64.b64encode(zlib.compress(path.read_bytes())).decode()
    return PROGRAM.format(files=packed, stub=(HERE / "pyperf_stub.py").read_text(), arguments=argv)


def measured(name, benchmarks, sides, rounds):
    """Row → side → best seconds, or why there are none."""
    rows = {}
    for argv in ARGUMENTS.get(name, [[]]):
        whole = text(benchmarks / f"bm_{name}", argv)
        for _ in range(rounds):
            for side, command in sides.items():
                times, trouble = once(command, whole)
                for row, seconds in times.items():
                    best = rows.setdefault(row, {}).get(side)
                    rows[row][side] = min(seconds, best) if isinstance(best, float) else seconds
                if trouble:
                    rows.setdefault(" ".join([name, *argv]), {}).setdefault(side, trouble)
    return rows


def once(command, whole):
    """The times that one run told, and the last line of its errors if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "program.py").write_text(whole)
        ended = subprocess.run([*command, "program.py"], cwd=folder, capture_output=True, text=True)
    words = [line.split() for line in ended.stdout.splitlines() if line.startswith("TIME ")]
    last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
    return {row: float(seconds) for _, row, seconds in words}, last if ended.returncode else None


def show(row, times, sides, ratios):
    native = times.get("python")
    cells, shares = [], []
    for side in sides:
        seconds = times.get(side, "no time")
        cells.append(f"{seconds * 1e3:.3g}" if isinstance(seconds, float) else f"– ({seconds[:60]})")
    for side in list(sides)[1:]:
        both = isinstance(native, float) and isinstance(times.get(side), float)
        shares.append(f"{times[side] / native:.2f}" if both else "–")
        if both and ratios:
            ratios[side][row] = times[side] / native
    print(f"| {row} | " + " | ".join(cells) + " | " + " | ".join(shares) + " |", flush=True)


main()
