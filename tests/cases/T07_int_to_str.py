# T07: quadratic int to str: the digit limit first; once the guest lifts it, the wall limit
# expect: timeout
# prints: HELD: Exceeds the limit
import functools; print = functools.partial(print, flush=True)  # a trap loses buffered stdout
import sys
n = 1 << (10**7 * 4)
try:
    str(n)
    print("FAIL: no digit limit")
except ValueError as e:
    print("HELD:", str(e)[:60])
sys.set_int_max_str_digits(0)
while True:
    str(n)
