# M04: numpy asks for more than there is
# expect: ok
# prints: HELD: 1000000000
# prints: HELD: 2147483647
import numpy as np
for n in (10**9, 5 * 10**8, 2**31 - 1):
    try:
        a = np.zeros(n, dtype="u1"); a[::4096] = 1
        print("got", n, "bytes (allowed only if cap >= it)")
        del a
    except (MemoryError, ValueError) as e:
        print("HELD:", n, type(e).__name__)
