# M07: with the recursion limit lifted: an exception or a clean trap, never an abort of the host
# expect: ok | memory | crashed | timeout
import functools; print = functools.partial(print, flush=True)  # a trap loses buffered stdout
import sys
sys.setrecursionlimit(2**31 - 1)
class A:
    def __getattr__(self, n):
        return getattr(self, n + "x")
def f(n):
    return [f(n + 1) for _ in (0,)]
for probe in (lambda: f(0), lambda: A().y):
    try:
        probe()
    except (RecursionError, MemoryError) as e:
        print("HELD:", type(e).__name__)
