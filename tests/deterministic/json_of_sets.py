import json
print(json.dumps(list({"x", "y", "zebra", "ant"})), json.dumps({str(k): hash(k) for k in {"a", "b", 3}}), json.dumps([*{"é", "ü"}]))
