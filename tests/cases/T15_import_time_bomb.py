# T15: modules planted in /work never stand in for the library's
# expect: ok
import sys, os
for d in ("/work", os.getcwd()):
    try:
        for name in ("json.py", "sitecustomize.py", "usercustomize.py", "numpy.py"):
            with open(f"{d}/{name}", "w") as f:
                f.write("print('FAIL: guest file imported'); raise SystemExit(7)\n")
    except OSError as e:
        print("HELD: cannot write", d, e.errno)
print("writable on sys.path:", [p for p in sys.path if p in ("", ".", "/work", "/tmp", os.getcwd())])
# --- turn ---
# expect: ok
# prints: json from /usr/local/lib/python315.zip
import json
print("json from", json.__file__)
