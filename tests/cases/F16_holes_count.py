# F16: holes count: many files whose single byte lies far out
# expect: ok
# prints: HELD: errno 51
import os
made = 0
try:
    for made in range(100):
        fd = os.open(f"/work/h{made}", os.O_CREAT | os.O_RDWR)
        os.pwrite(fd, b"x", 9 << 20)
        os.close(fd)
    print("FAIL: made", made)
except OSError as e:
    print("HELD: errno", e.errno, "after", made)
total = sum(entry.stat().st_size for entry in os.scandir("/work"))
print("FAIL: files hold" if total > 64 << 20 else "HELD: files hold", total)
