# F04: open files end with EMFILE at the guest's own limit
# expect: ok
# prints: HELD: errno 33
import os, sys
zip_path = next((p for p in sys.path if p.endswith(".zip")), None) or "/work/x"
if zip_path == "/work/x":
    open(zip_path, "w").close()
fds = []
try:
    for _ in range(5000):
        fds.append(os.open(zip_path, os.O_RDONLY))
    print("FAIL: opened", len(fds))
except OSError as e:
    print("HELD: errno", e.errno, "after", len(fds))
