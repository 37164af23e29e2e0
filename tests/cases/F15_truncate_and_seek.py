# F15: sizes by truncate, seek and allocate, also negative and beyond any number
# expect: ok
# prints: HELD: ftruncate 1099511627776
import os
fd = os.open("/work/f", os.O_CREAT | os.O_RDWR)
for n in (1 << 40, 1 << 62, (1 << 63) - 1, (64 << 20) + 1, -1):
    try:
        os.ftruncate(fd, n)
        print("FAIL: size", os.fstat(fd).st_size)
    except (OSError, OverflowError) as e:
        print("HELD: ftruncate", n, getattr(e, "errno", type(e).__name__))
    try:
        os.lseek(fd, n, 0)
        os.write(fd, b"x")
        print("FAIL: wrote at", n)
    except (OSError, OverflowError) as e:
        print("HELD: seek", n, getattr(e, "errno", type(e).__name__))
    try:
        os.pwrite(fd, b"x", n)
        print("FAIL: pwrote at", n)
    except (OSError, OverflowError, AttributeError) as e:
        print("HELD: pwrite", n, getattr(e, "errno", type(e).__name__))
    try:
        os.posix_fallocate(fd, 0, n)
        print("FAIL: allocated", n)
    except (OSError, OverflowError, AttributeError) as e:
        print("HELD: fallocate", n, getattr(e, "errno", type(e).__name__))
for whence in (1, 2):
    for n in ((1 << 63) - 1, -(1 << 63), -1):
        try:
            os.lseek(fd, n, whence)
        except (OSError, OverflowError, SystemError) as e:
            print("HELD: lseek", n, whence, getattr(e, "errno", type(e).__name__))
print("FAIL: left at" if os.fstat(fd).st_size > 64 << 20 else "HELD: left at", os.fstat(fd).st_size)
