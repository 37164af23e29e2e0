# F02: a hole of 8 TiB is refused (EFBIG)
# expect: ok
# prints: HELD: errno 22
import os
try:
    fd = os.open("/work/sparse", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 8 << 40)
    print("FAIL unless the collector caps: size", os.fstat(fd).st_size)
except OSError as e:
    print("HELD: errno", e.errno)
