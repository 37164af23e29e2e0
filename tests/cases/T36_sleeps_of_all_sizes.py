# T36: sleeps that overflow, that are not numbers, and one that is simply long
# expect: timeout
# prints: HELD: nan
import functools; print = functools.partial(print, flush=True)
import time
for s in (-1, float("nan"), 1e300, 2 ** 63, 2 ** 200, float("inf")):
    try:
        time.sleep(s)
        print("FAIL: slept", s)
    except (ValueError, OverflowError, OSError) as e:
        print("HELD:", s, type(e).__name__)
time.sleep(9e9)
print("FAIL: slept to the end")
