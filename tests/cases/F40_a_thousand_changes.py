# F40: as many changed files as there may be, of all kinds: the report is bounded and true
# expect: ok
import os
n = 0
try:
    for n in range(2000):
        with open(f"/work/{n:04}", "wb") as f:
            f.write(os.urandom(10_000))
except OSError as e:
    print("HELD: errno", e.errno, n)
# --- turn ---
# expect: ok
import os
for i, name in enumerate(sorted(os.listdir("/work"))):
    os.unlink("/work/" + name) if i % 2 else os.utime("/work/" + name)
