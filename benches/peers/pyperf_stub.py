"""Stands in for the module `pyperf` in a benchmark of pyperformance: times in this process, prints a line for each.

A benchmark is repeated until a run takes `ENOUGH` seconds, which also warms it; then the best of `RUNS` runs counts, or the
one run of a benchmark that takes longer than `LONG`.
"""

import argparse
import sys
import time
import types

ENOUGH, LONG, RUNS = 0.1, 2.0, 3


class Runner:
    def __init__(self, add_cmdline_args=None, program_args=(), **settings):
        self.metadata = {}
        self.argparser = argparse.ArgumentParser()
        self.args = None

    def parse_args(self, args=None):
        self.args = self.argparser.parse_args(args)
        return self.args

    def bench_time_func(self, name, function, *args, inner_loops=None, **settings):
        """`function(loops, …)` gives the seconds that so many loops took."""
        loops, seconds = 1, function(1, *args)
        while seconds < ENOUGH:
            loops *= 2
            seconds = function(loops, *args)
        best = seconds if seconds > LONG else min(function(loops, *args) for _ in range(RUNS))
        print("TIME", name.replace(" ", "_"), best / loops, flush=True)

    def bench_func(self, name, function, *args, **settings):
        def timed(loops):
            start = time.perf_counter()
            for _ in range(loops):
                function(*args)
            return time.perf_counter() - start

        self.bench_time_func(name, timed)

    def bench_async_func(self, name, function, *args, **settings):
        import asyncio

        self.bench_func(name, lambda: asyncio.run(function(*args)))


module = types.ModuleType("pyperf")
module.Runner, module.perf_counter, module.python_implementation = Runner, time.perf_counter, lambda: "cpython"
sys.modules["pyperf"] = module
# The benchmark of the pure-Python pickle hides the C module before it imports pickle for the first time.
for name in ("pickle", "_pickle"):
    sys.modules.pop(name, None)
