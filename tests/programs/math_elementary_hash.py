# A thousand values of each of the functions that are exact wherever they are computed, none of which may differ in any bit.
import hashlib
import math
import struct


def digest(values):
    return hashlib.sha1(struct.pack(f"<{len(values)}d", *values)).hexdigest()[:12]


xs = [n / 97 + 0.01 for n in range(1, 1001)]
for function in (math.log, math.log2, math.sqrt, math.floor, math.fabs):
    print(function.__name__, digest(tuple(function(x) for x in xs)))
print("power", digest(tuple(x ** 3 for x in xs)), digest(tuple(1.01 ** n for n in range(1000))))
print("division", digest(tuple(1 / x for x in xs)), digest(tuple(x % 0.3 for x in xs)), digest(tuple(x // 0.3 for x in xs)))
print("text", digest(tuple(float(repr(x)) for x in xs)), digest(tuple(round(x, 3) for x in xs)))
