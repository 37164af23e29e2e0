# F29: files, folders and what is open without a name are entries; what was removed is none
# expect: ok
# prints: HELD: removed and made
import os
n = 0
try:
    while n < 5000:
        os.mkdir(f"/work/d{n}")
        open(f"/tmp/f{n}", "w").close()
        n += 1
    print("FAIL: made", n)
except OSError as e:
    print("HELD: errno", e.errno, "after", n, n <= 512)
for i in range(n):
    os.rmdir(f"/work/d{i}"), os.unlink(f"/tmp/f{i}")
for name in os.listdir("/work"):
    os.rmdir("/work/" + name)
for i in range(5000):
    open("/work/x", "w").close()
    os.unlink("/work/x")
print("HELD: removed and made")
