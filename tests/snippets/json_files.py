import json
from datetime import date

class Encoder(json.JSONEncoder):
    def default(self, o):
        return o.isoformat() if isinstance(o, date) else super().default(o)

data = {"name": "Zoë", "born": date(1990, 5, 17), "scores": [1, 2.5, None, True], "nested": {"a": {"b": []}}}
text = json.dumps(data, cls=Encoder, indent=2, ensure_ascii=False, sort_keys=True)
print(text)
with open("data.json", "w", encoding="utf-8") as f:
    f.write(text)
with open("data.json", encoding="utf-8") as f:
    back = json.load(f)
print(back["nested"]["a"], json.dumps("ë"))
try:
    json.loads('{"a": 1,}')
except json.JSONDecodeError as e:
    print(e.lineno, e.colno, type(e).__name__)
