# F44: append, positions and two descriptors on one file are as POSIX says
# expect: ok
# prints: b'abcd' b'abcddY' b'bc' 6
import os
a = os.open("/work/f", os.O_CREAT | os.O_RDWR)
b = os.open("/work/f", os.O_RDWR | os.O_APPEND)
os.write(a, b"abc"), os.write(b, b"X"), os.write(a, b"d")
os.lseek(a, 0, 0)
first = os.read(a, 100)
os.lseek(a, 4, 0)
os.write(a, b"d"), os.lseek(b, 0, 0), os.write(b, b"Y")
os.lseek(a, 0, 0)
print(first, os.read(a, 100), os.pread(a, 2, 1), os.lseek(a, 0, 1))
os.ftruncate(a, 1)
print(os.pread(b, 100, 0))
