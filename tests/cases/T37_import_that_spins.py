# T37: a module of the cell's own that never finishes its import
# expect: timeout
open("/work/endless.py", "w").write("while True:\n    pass\n")
import endless
# --- turn ---
# expect: ok
# prints: json
import json
print("json", json.loads("[1]"))
