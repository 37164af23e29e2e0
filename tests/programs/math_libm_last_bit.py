# Functions whose last bit is up to the C library.
import hashlib
import math
import struct


def digest(values):
    return hashlib.sha1(struct.pack(f"<{len(values)}d", *values)).hexdigest()[:12]


xs = [n / 37 for n in range(1, 200)]
for function in (math.sin, math.cos, math.exp, math.log10, math.sinh, math.cosh, math.tanh, math.asinh, math.expm1, math.log1p, math.cbrt, math.erf, math.erfc, math.tan, math.atan, math.exp2):
    values = [function(x) for x in xs]
    print(function.__name__, values[0], values[50], values[-1], digest(tuple(values)))
for function in (math.gamma, math.lgamma):
    values = [function(x) for x in xs]
    print(function.__name__, values[0], values[50], digest(tuple(values)))
print(digest(tuple(x ** 1.7 for x in xs)), digest(tuple(x ** 0.5 for x in xs)), digest(tuple(math.atan2(x, 2) for x in xs)), digest(tuple(math.hypot(x, 3) for x in xs)))
