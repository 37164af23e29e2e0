import json
from datetime import date

document = {"name": "Ünï \"q\"", "n": [1, -2.5, 1e100, 0.1, True, None], "nested": {"b": {}, "a": []}, "tab": "\t\u2028", 5: "int key", None: 1, False: 2}
text = json.dumps(document)
print(text)
print(json.dumps(document, ensure_ascii=False, indent=2, separators=(",", ": ")))
print(json.dumps({"b": 1, "a": [1, {"c": 2}]}, sort_keys=True, indent="\t"), json.dumps([float("inf"), float("nan")]), json.dumps((1, 2)), json.dumps("a/b\x7f\U0001f600"))
print(json.loads(text) == {**{str(k) if not isinstance(k, (bool, type(None))) else {None: "null", False: "false"}[k]: v for k, v in document.items()}})
print(json.loads(' [1, 2.0, "x\\u00e9\\n", {"a": null}, 1E3, -0, 12345678901234567890] '), json.loads("NaN"), json.loads(b'"bytes"'))
print(json.loads('{"b": 1, "a": 2, "b": 3}', object_pairs_hook=list), json.loads("[1.10]", parse_float=str), json.loads('{"x": {"y": 1}}', object_hook=lambda d: tuple(d.items())))


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, set):
            return sorted(value)
        return super().default(value)


print(json.dumps({"when": date(2024, 5, 1), "tags": {"b", "a"}}, cls=Encoder), json.dumps([1j], default=str))
for bad in ("", "{", "{'a': 1}", '{"a" 1}', '"\n"', "[1] x", "tru", '"\\x"'):
    try:
        json.loads(bad)
    except json.JSONDecodeError as error:
        print(repr(bad), error.pos, error.lineno, error.colno, type(error).__name__)
for bad in ({(1, 2): 3}, {1}, object, b"x", 1j):
    try:
        json.dumps(bad)
    except TypeError as error:
        print(str(error)[:70])
loop = []
loop.append(loop)
try:
    json.dumps(loop)
except ValueError as error:
    print(error)
