from pprint import pformat, pp, pprint
import reprlib
import types

data = {"name": "x" * 50, "list": list(range(40)), "nested": {"b": [1, {"deep": ("a" * 40, "b" * 40)}], "a": {3, 1, 2}}, "text": "word " * 30}
pprint(data)
pprint(data, width=120, compact=True, sort_dicts=False)
pprint(data, depth=2, indent=4)
pp([("short", 1), ("tuple",), [], {}, set()])
print(pformat([{"a": 1, "b": 2}] * 3, width=20))
print(reprlib.repr(list(range(1000))), reprlib.repr("x" * 100), types.SimpleNamespace(a=1, b="c"), pformat(frozenset([1])))
loop = []
loop.append(loop)
print(pformat(loop)[:20])
