# M27: the recursion limit at 10**9, then recursion through C: never an abort of the host
# expect: ok | error | memory | crashed
import functools; print = functools.partial(print, flush=True)
import sys
sys.setrecursionlimit(10 ** 9)
class A:
    def __repr__(self):
        return repr([self, self])
try:
    repr(A())
except (RecursionError, MemoryError) as e:
    print("HELD:", type(e).__name__)
# --- turn ---
# expect: ok | error | memory | crashed | timeout
import sys
sys.setrecursionlimit(10 ** 9)
class B:
    def __eq__(self, other):
        return [self] == [other]
    def __hash__(self):
        return hash((self,))
B() == B() or hash(B())
# --- turn ---
# expect: ok | error | memory | crashed | timeout
import functools, json, pickle, sys
sys.setrecursionlimit(10 ** 9)
x = functools.reduce(lambda x, _: [x], range(10 ** 6), [])
for f in (json.dumps, pickle.dumps, repr):
    try:
        f(x)
    except (RecursionError, MemoryError):
        pass
# --- turn ---
# expect: ok | error | memory | crashed | timeout
import sys
sys.setrecursionlimit(10 ** 9)
sys.settrace(lambda *a: (lambda: sys.settrace(sys.gettrace()))())
def g(n):
    return sorted([n, n + 1], key=g)
g(0)
