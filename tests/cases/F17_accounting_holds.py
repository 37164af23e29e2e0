# F17: a thousand writes, renames over files, truncates and removals leave the account as it was
# expect: ok
# prints: HELD: all of it again
import os
for i in range(1000):
    a, b = f"/work/a{i % 7}", f"/work/b{i % 5}"
    with open(a, "wb") as f:
        f.write(bytes(10_000 + i))
        f.seek(5)
        f.truncate()
        f.truncate(20_000)
    os.replace(a, b)
    if i % 3 == 0:
        os.unlink(b)
for name in os.listdir("/work"):
    os.unlink("/work/" + name)
for round in range(3):
    n = 0
    with open("/work/all", "wb", buffering=0) as f:
        try:
            while True:
                n += f.write(bytes(1 << 20))
        except OSError:
            pass
    print("HELD: all of it again" if n == 64 << 20 else "FAIL: room for", n)
    os.unlink("/work/all")
