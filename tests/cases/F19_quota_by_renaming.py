# F19: an open file that is renamed over, then written: bytes that no name shows count
# expect: ok
import os
held = []
try:
    for i in range(40):
        f = open("/work/same", "wb+", buffering=0)
        if f.write(bytes(4 << 20)) < 4 << 20:
            raise OSError(51, "short")
        open("/work/next", "w").close()
        os.replace("/work/next", "/work/same")
        held.append(f)
    print("FAIL: 160 MiB in files without names")
except OSError as e:
    print("HELD: errno", e.errno, "after", len(held))
