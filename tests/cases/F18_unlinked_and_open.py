# F18: files that were removed but are open still hold their bytes
# expect: ok
# prints: HELD: second errno 51
# prints: HELD: room again
import os
a = open("/work/a", "wb+", buffering=0)
a.write(bytes(40 << 20))
os.unlink("/work/a")
b = open("/work/b", "wb", buffering=0)
try:
    n = 0
    while n < 40 << 20:
        n += b.write(bytes(40 << 20))
    print("FAIL: both fit")
except OSError as e:
    print("HELD: second errno", e.errno)
b.close()
a.seek(0)
print("HELD: still readable" if len(a.read()) == 40 << 20 else "FAIL: lost")
a.close()
with open("/work/b", "wb", buffering=0) as f:
    print("HELD: room again" if f.write(bytes(60 << 20)) == 60 << 20 else "FAIL: no room")
