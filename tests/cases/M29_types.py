# M29: classes, unions and generics in masses
# expect: ok | timeout | error | memory
import functools; print = functools.partial(print, flush=True)
try:
    t = int
    for i in range(20_000):
        t = type(f"C{i}", (t,), {})
    print("HELD: made", len(t.__mro__))
except (RecursionError, MemoryError, TypeError) as e:
    print("HELD:", type(e).__name__)
u = int
for i in range(100_000):
    u = list[u]
try:
    repr(u), hash(u), u == list[u]
    print("check: compared")
except (RecursionError, MemoryError) as e:
    print("HELD:", type(e).__name__)
