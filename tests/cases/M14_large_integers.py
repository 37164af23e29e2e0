# M14: integers of gigabytes
# expect: ok | timeout | memory
import functools; print = functools.partial(print, flush=True)
import math
for name, f in (("shift", lambda: 1 << 10 ** 10), ("shift more", lambda: 1 << (1 << 62)), ("times", lambda: (1 << 2 ** 30) * (1 << 2 ** 30)), ("from bytes", lambda: int.from_bytes(bytes(1 << 29), "big")), ("factorial", lambda: math.factorial(2 ** 40)), ("comb", lambda: math.comb(10 ** 9, 10 ** 8))):
    try:
        print("check: got", name, f().bit_length())
    except (MemoryError, OverflowError, ValueError) as e:
        print("HELD:", name, type(e).__name__)
