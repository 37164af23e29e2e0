# R: wasmtime GHSA-fm79-3f68-h2fc (fd_renumber panics the host) and RUSTSEC-2026-0182 (it leaks the descriptor it replaces)
# expect: ok
# prints: HELD: thousands
import os
a = os.open("/work/a", os.O_CREAT | os.O_RDWR)
b = os.open("/work/b", os.O_CREAT | os.O_RDWR)
for pair in ((a, a), (a, 2 ** 31 - 1), (2 ** 31 - 1, a), (999, 998), (a, 999), (-1, a), (a, -1), (0, a), (a, b), (b, a), (3, 3)):
    try:
        os.dup2(*pair)
        print("check:", pair)
    except (OSError, OverflowError, ValueError, AttributeError) as e:
        print("HELD:", pair, type(e).__name__)
n = 0
for _ in range(3000):
    c = os.open("/work/c", os.O_CREAT | os.O_RDWR)
    try:
        os.dup2(c, b)
        n += 1
    except (OSError, AttributeError):
        pass
    os.close(c)
print("HELD: thousands", n)
