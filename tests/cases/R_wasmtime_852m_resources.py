# R: wasmtime GHSA-852m-cvvp-9p4w: a guest makes the host allocate by handles, random bytes and long lists
# expect: ok | memory
# prints: HELD: handles
import functools; print = functools.partial(print, flush=True)
import os, select
kept = []
try:
    while len(kept) < 100_000:
        kept.append(os.open("/work", os.O_RDONLY))
    print("FAIL: opened", len(kept))
except OSError as e:
    print("HELD: handles", len(kept) < 300)
for fd in kept:
    os.close(fd)
for f in (lambda: os.urandom(1 << 30), lambda: os.getrandom(1 << 30), lambda: select.select(list(range(1000)), list(range(1000)), [], 0), lambda: os.write(1, b"")):
    try:
        f()
    except (OSError, MemoryError, AttributeError, ValueError) as e:
        print("HELD:", type(e).__name__)
