# F43: reads and writes with thousands of buffers, empty ones and none
# expect: ok
import os
fd = os.open("/work/f", os.O_CREAT | os.O_RDWR)
for name in ("writev", "readv", "pwritev", "preadv"):
    f = getattr(os, name, None)
    for buffers in ([], [b""], [b"x"] * 100_000, [b""] * 100_000, [bytes(1 << 20)] * 100):
        if f is None:
            print("HELD: no", name)
            break
        buffers = [bytearray(b) for b in buffers]
        try:
            print("check:", name, len(buffers), f(fd, buffers, *([0] if name[0] == "p" else [])))
        except (OSError, ValueError, OverflowError) as e:
            print("HELD:", name, len(buffers), getattr(e, "errno", type(e).__name__))
os.write(fd, b""), os.read(fd, 0)
try:
    os.read(fd, 2 ** 31 - 1)
    os.read(fd, 2 ** 40)
except (OSError, OverflowError, MemoryError) as e:
    print("HELD: read", type(e).__name__)
print("FAIL: file of" if os.fstat(fd).st_size > 64 << 20 else "HELD: file of", os.fstat(fd).st_size)
