ages = {"ann": 31, "bob": 25}
ages["cy"] = 40
ages.update(dan=19, bob=26)
ages |= {"eve": 22}
print(ages, list(ages), list(ages.items())[:2], ages.get("zed"), ages.get("zed", 0), "ann" in ages, len(ages))
print(ages.pop("ann"), ages.pop("ann", None), ages.popitem(), ages.setdefault("fay", 50), ages)
print({v: k for k, v in ages.items()}, dict(zip("abc", range(3))), dict.fromkeys("ab", 0), {"a": 1} | {"a": 2, "b": 3})
print(sorted(ages.items(), key=lambda item: item[1]), max(ages, key=ages.get), sum(ages.values()))
print(list(reversed(ages)), ages.keys() & {"bob", "zed"}, sorted(ages.keys() - {"bob"}), {"a": 1}.items() <= {"a": 1, "b": 2}.items())
counts = {}
for char in "mississippi":
    counts[char] = counts.get(char, 0) + 1
print(counts, {1: "int", 1.0: "float", True: "bool"}, {(1, 2): "tuple", frozenset([1]): "set"})
for bad in ("{}['k']", "{1: 2}.popitem(0)", "dict([(1, 2, 3)])", "{}.update(5)"):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, error)
try:
    for key in ages:
        ages[key + "x"] = 1
except RuntimeError as error:
    print(error)
nested = {"a": {"b": [1, {"c": 2}]}}
print(nested["a"]["b"][1]["c"], {**nested, "d": None}, str(ages.keys()), repr(dict(x=1).values()))
