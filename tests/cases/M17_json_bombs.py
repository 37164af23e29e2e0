# M17: JSON that is deep, long or full of digits
# expect: ok | error | memory | crashed
# prints: HELD: digits
import functools, json
print = functools.partial(print, flush=True)
tries = {"digits": lambda: json.loads("1" * 10_000_000), "deep": lambda: json.loads("[" * 10 ** 6 + "]" * 10 ** 6), "deep objects": lambda: json.loads('{"a":' * 10 ** 6), "exponent": lambda: json.loads("1e999999999"), "surrogates": lambda: json.loads('"' + "\\ud800" * 10 ** 6 + '"'),
         "self": lambda: (lambda l: (l.append(l), json.dumps(l)))([])}
for name, f in tries.items():
    try:
        print("check:", name, repr(f())[:30])
    except (ValueError, RecursionError, MemoryError) as e:
        print("HELD:", name, type(e).__name__)
