# F03: files end at the quota of entries
# expect: ok
# prints: HELD: errno 51 after 1024
import os
n = 0
try:
    for i in range(10_000):
        os.close(os.open(f"/work/i{i}", os.O_CREAT | os.O_WRONLY)); n += 1
    print("FAIL: made", n)
except OSError as e:
    print("HELD: errno", e.errno, "after", n)
