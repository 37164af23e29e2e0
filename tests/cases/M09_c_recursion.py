# M09: recursion in C, with the limit as it is
# expect: ok | crashed
# prints: HELD: repr
import ast, copy, functools, json, marshal, pickle, re
print = functools.partial(print, flush=True)
def nested(make, n=100_000):
    x = make(None)
    for _ in range(n):
        x = make(x)
    return x
l = nested(lambda x: [x]); t = nested(lambda x: (x,)); d = nested(lambda x: {1: x})
tries = {"repr": lambda: repr(l), "repr dict": lambda: repr(d), "eq": lambda: l == nested(lambda x: [x]), "hash": lambda: hash(t), "json": lambda: json.dumps(l), "json loads": lambda: json.loads("[" * 100_000),
         "pickle": lambda: pickle.dumps(l), "deepcopy": lambda: copy.deepcopy(l), "marshal": lambda: marshal.dumps(l), "literal_eval": lambda: ast.literal_eval("[" * 5000 + "]" * 5000), "isinstance": lambda: isinstance(1, t),
         "re": lambda: re.compile("(" * 100_000 + ")" * 100_000), "startswith": lambda: "".startswith(t)}
for name, f in tries.items():
    try:
        f()
        print("check:", name)
    except (RecursionError, MemoryError, ValueError, TypeError, SyntaxError, re.error) as e:
        print("HELD:", name, type(e).__name__)
