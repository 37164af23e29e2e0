# R: limits that count steps of the interpreter and so miss work inside one builtin (the kind of monty#362, #419, #736)
# expect: timeout | error | memory
import functools; print = functools.partial(print, flush=True)
for f in (lambda: "a" * (1 << 27) in "b" * (1 << 28), lambda: [0] * (1 << 25) == [0] * (1 << 25), lambda: sum(range(10 ** 8)), lambda: max("x" * 10 ** 8), lambda: ("ab" * 10 ** 7).replace("a", "bbb").count("b"), lambda: "".join(sorted("ba" * 10 ** 7)), lambda: pow(7, 10 ** 7), lambda: sum(range(10 ** 12))):
    try:
        f()
        print("check")
    except MemoryError:
        print("HELD: MemoryError")
