import io
import json
from collections import defaultdict

stream = io.StringIO("""{"user": "ann", "event": "click", "ms": 12}
{"user": "bob", "event": "view", "ms": 5.5}

{"user": "ann", "event": "view"}
not json
{"user": "cy", "event": "click", "ms": 30, "extra": {"deep": [1, 2]}}
""")
totals, bad = defaultdict(lambda: {"events": 0, "ms": 0}), []
for number, line in enumerate(stream, 1):
    if not line.strip():
        continue
    try:
        record = json.loads(line)
    except ValueError as error:
        bad.append((number, str(error)))
        continue
    totals[record["user"]]["events"] += 1
    totals[record["user"]]["ms"] += record.get("ms", 0)
print(json.dumps(totals, indent=1, sort_keys=True))
print(bad)
with open("out.jsonl", "w") as file:
    for user, row in sorted(totals.items()):
        file.write(json.dumps({"user": user, **row}) + "\n")
with open("out.jsonl") as file:
    rows = [json.loads(line) for line in file]
print(rows, sum(row["ms"] for row in rows))
json.dump(rows, open("all.json", "w"))
print(json.load(open("all.json"))[0]["user"], open("all.json").read()[:40])
