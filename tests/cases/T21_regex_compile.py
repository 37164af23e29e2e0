# T21: regular expressions that are large or deep to compile
# expect: ok | timeout | memory | crashed
import functools; print = functools.partial(print, flush=True)
import re
for pattern in ("(" * 5000 + ")" * 5000, "(?:" * 3000 + "a" + "){1,9}" * 3000, "|".join(map(str, range(200_000))), "[" + "".join(map(chr, range(0x4e00, 0x9000))) + "]" * 2, "a{1,4294967295}", "(?i)" + "\u0130" * 100_000):
    try:
        re.compile(pattern)
        print("compiled", pattern[:8])
    except (re.error, RecursionError, MemoryError, OverflowError, RuntimeError, AssertionError) as e:
        print("HELD:", pattern[:8], type(e).__name__)
