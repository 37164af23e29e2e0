# T42: source that is small and costs the compiler much
# expect: ok | timeout | error | memory | crashed
import functools; print = functools.partial(print, flush=True)
for source in ("x = " + "(" * 90 + "1" + ",)" * 90, "-" * 50_000 + "1", "x = [" + "0," * 50_000 + "]", "a = b = " * 2_000 + "1", "def f(" + ",".join(f"a{i}" for i in range(5_000)) + "): pass",
               "\n".join(" " * i + "if 1:" for i in range(99)) + "\n" + " " * 99 + "pass", "'x' * 10 ** 5 * 10 ** 5", "1 << 10 ** 12", "(" + "1 + " * 5_000 + "1)",
               "[" * 60 + "x for x in y" + "]" * 60, "class A:\n" + "\n".join(f"  x{i}: int = {i}" for i in range(5_000)), "try: pass\n" + "except* A: pass\n" * 5_000):
    try:
        compile(source, "<bomb>", "exec")
        print("compiled", source[:12].strip())
    except (SyntaxError, MemoryError, RecursionError, OverflowError, ValueError, SystemError) as e:
        print("HELD:", source[:12].strip(), type(e).__name__)
