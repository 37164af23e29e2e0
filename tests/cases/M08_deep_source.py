# M08: deep source: a catchable error for each shape, or a clean trap
# expect: ok | crashed | timeout
import functools; print = functools.partial(print, flush=True)  # a trap loses buffered stdout
D = 200_000
shapes = ["(" * D + "1" + ")" * D, "[" * D + "]" * D, "-" * D + "1", "x" + ".a" * D, "1 if 1 else " * D + "1",
          "lambda: " * D + "1", "2 ** " * D + "2", "f'" + "{x:" * 1500 + "}" * 1500 + "'", "a" + "[0]" * D]
for s in shapes:
    try:
        compile(s, "<deep>", "eval")
        print("compiled", s[:8])
    except (SyntaxError, MemoryError, RecursionError) as e:
        print("HELD:", s[:8], type(e).__name__)
