# F22: /work and /tmp share one quota
# expect: ok
# prints: HELD: errno 51
import os
used = 0
try:
    with open("/work/a", "wb", buffering=0) as a, open("/tmp/b", "wb", buffering=0) as b:
        while used < 200 << 20:
            used += a.write(bytes(1 << 20)) + b.write(bytes(1 << 20))
    print("FAIL: wrote", used)
except OSError as e:
    print("HELD: errno", e.errno)
total = os.path.getsize("/work/a") + os.path.getsize("/tmp/b")
print("FAIL: both hold" if total > 64 << 20 else "HELD: both hold", total)
