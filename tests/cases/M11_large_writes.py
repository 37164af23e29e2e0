# M11: single writes of 200 MiB to a file and to stdout, and a seek far beyond the end
# expect: ok
# dropped: stdout
# prints: HELD: file
import os, sys
big = bytes(200 << 20)
fd = os.open("/work/f", os.O_CREAT | os.O_RDWR)
try:
    n = os.write(fd, big)
    print("FAIL: wrote" if n > 64 << 20 else "HELD: file", n)
except OSError as e:
    print("HELD: file errno", e.errno)
try:
    os.lseek(fd, 1 << 62, 0)
    os.write(fd, b"x")
    print("FAIL: wrote at 2**62")
except OSError as e:
    print("HELD: seek errno", e.errno)
os.close(fd)
sys.stdout.flush()
os.write(1, big)
