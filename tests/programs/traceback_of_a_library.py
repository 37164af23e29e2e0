# An exception from within the standard library, not caught.
import json
import statistics

data = {"values": [1, 2, "three"]}
print(json.dumps(data))
print("sum of numbers", sum(v for v in data["values"] if isinstance(v, int)))
print("mean of none is an error:")
statistics.mean([])
