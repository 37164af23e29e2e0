# F27: open folders count as open files
# expect: ok
# prints: HELD: scandir
# prints: HELD: folders
import os
for name, make in (("scandir", lambda: iter(os.scandir("/work"))), ("folders", lambda: os.open("/work", os.O_RDONLY)), ("library", lambda: os.open("/usr/local/lib", os.O_RDONLY | os.O_DIRECTORY))):
    kept = []
    try:
        for _ in range(2000):
            kept.append(make())
        print("FAIL: opened 2000", name)
    except OSError as e:
        print("HELD:", name, "errno", e.errno, len(kept) <= 64)
    for k in kept:
        os.close(k) if isinstance(k, int) else k.close()
