"""Walks through 1,000 files in 50 folders, here and on an ordinary python3, in turn: a table of milliseconds.

    cargo build --release && python3 benches/peers/walks.py [--program PATH] [--python PATH] [--rounds N]
"""

import argparse
import json
import pathlib
import statistics
import subprocess

GUEST = '''
import glob, json, os, pathlib, shutil, tempfile, time
root = pathlib.Path(tempfile.mkdtemp())
for i in range(50):
    folder = root / f"folder{i:02}"
    folder.mkdir()
    for j in range(20):
        (folder / f"file{j:03}.txt").write_text("x" * j)
walks = {
    "Path.rglob": lambda: len(list(root.rglob("*.txt"))),
    "Path.glob": lambda: len(list(root.glob("**/*.txt"))),
    "glob.glob": lambda: len(glob.glob(f"{root}/**/*.txt", recursive=True)),
    "os.walk": lambda: sum(len(names) for _, _, names in os.walk(root)),
    "Path.iterdir": lambda: sum(1 for folder in root.iterdir() for _ in folder.iterdir()),
    "Path.is_file": lambda: sum(file.is_file() for folder in root.iterdir() for file in folder.iterdir()),
    "Path.stat": lambda: len([file.stat().st_size for folder in root.iterdir() for file in folder.iterdir()]),
    "os.scandir": lambda: len([entry.stat().st_size for folder in os.scandir(root) for entry in os.scandir(folder)]),
    "Path.read_text": lambda: len([file.read_text() for folder in root.iterdir() for file in folder.iterdir()]),
}
times = {}
for name, walk in walks.items():
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        assert walk() == 1000, name
        best = min(best, time.perf_counter() - start)
    times[name] = best * 1000
shutil.rmtree(root)
print(json.dumps(times))
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--program", default=root / "target/release/slm-code-interpreter")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    commands = {
        "here": [args.program, "exec", "--entries", "3000", "-c", GUEST],
        "python3": [args.python, "-c", GUEST],
    }
    seen = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            seen[name].append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    print("| 1,000 files in 50 folders, ms | here | python3 | ratio |\n|---|---|---|---|")
    for walk in seen["here"][0]:
        here, native = (statistics.median(times[walk] for times in seen[name]) for name in ("here", "python3"))
        print(f"| `{walk}` | {here:.1f} | {native:.1f} | {here / native:.1f} |")


if __name__ == "__main__":
    main()
