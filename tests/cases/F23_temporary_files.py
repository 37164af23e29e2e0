# F23: temporary files of every kind, kept open, end at a quota, and go
# expect: ok
import os, tempfile
kept = []
for make in (tempfile.NamedTemporaryFile, tempfile.TemporaryFile, lambda: tempfile.SpooledTemporaryFile(max_size=10), tempfile.TemporaryDirectory, tempfile.mkdtemp, tempfile.mkstemp):
    try:
        for _ in range(3000):
            f = make()
            if hasattr(f, "write"):
                f.write(b"x" * 100)
            kept.append(f)
        print("FAIL: made 3000")
    except OSError as e:
        print("HELD: errno", e.errno)
    for f in kept:
        if hasattr(f, "close"):
            f.close()
        elif hasattr(f, "cleanup"):
            f.cleanup()
        elif type(f) is tuple:
            os.close(f[0]), os.unlink(f[1])
        else:
            os.rmdir(f)
    kept.clear()
print("left", os.listdir("/tmp"))
