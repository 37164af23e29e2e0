# M20: a hundred thousand generators inside one another, and iterators that are freed in a chain
# expect: ok | memory | crashed
import functools; print = functools.partial(print, flush=True)
def chain(n):
    def inner(it):
        yield from it
    it = iter(())
    for _ in range(n):
        it = inner(it)
    return it
for name, f in (("yield from", lambda: list(chain(100_000))), ("map", lambda: functools.reduce(lambda it, _: map(str, it), range(300_000), iter("a")))):
    try:
        x = f()
        del x
        print("check:", name)
    except (RecursionError, MemoryError) as e:
        print("HELD:", name, type(e).__name__)
