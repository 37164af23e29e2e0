# F14: the quota by many small appends, to many files
# expect: ok
# prints: HELD: errno 51
import os
used = 0
files = [open(f"/work/a{i}", "ab", buffering=0) for i in range(40)]
block = b"x" * 60_001
try:
    while used < 200 << 20:
        for f in files:
            used += f.write(block)
    print("FAIL: wrote", used)
except OSError as e:
    print("HELD: errno", e.errno, "after", used)
total = sum(entry.stat().st_size for entry in os.scandir("/work"))
print("FAIL: files hold" if total > 64 << 20 or total != used and total < used else "HELD: files hold", total)
