# T06: the largest block copies that the memory limit allows, over and over
# expect: timeout
import functools; print = functools.partial(print, flush=True)
a, b = bytearray(120 << 20), bytearray(120 << 20)
print("allocated")
while True:
    a[:] = b
    b[1:] = a[:-1]
