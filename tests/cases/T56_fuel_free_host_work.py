# T56: host calls with the most work each: long paths, many iovecs, large reads
# expect: timeout
import os
fd = os.open("/work/f", os.O_CREAT | os.O_RDWR)
os.write(fd, bytes(16 << 20))
block = bytearray(16 << 20)
deep = "/work/" + "../work/" * 500 + "f"
while True:
    os.lseek(fd, 0, 0)
    os.readv(fd, [block]) if hasattr(os, "readv") else os.read(fd, 16 << 20)
    try:
        os.stat(deep)
    except OSError:
        pass
