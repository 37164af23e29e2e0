# F09: the read-only folders stay so
# expect: ok
# prints: HELD: O_RDONLY|O_TRUNC
import os, sys
z = next(p for p in sys.path if p.endswith(".zip"))
ops = {"open w": lambda: open(z, "w"), "O_RDONLY|O_TRUNC": lambda: os.open(z, os.O_RDONLY | os.O_TRUNC),
       "O_CREAT": lambda: os.open(os.path.dirname(z) + "/evil.pth", os.O_CREAT | os.O_WRONLY),
       "truncate": lambda: os.truncate(z, 0), "unlink": lambda: os.unlink(z), "utime": lambda: os.utime(z, (0, 0)),
       "mkdir": lambda: os.mkdir(os.path.dirname(z) + "/x"), "symlink": lambda: os.symlink("/x", os.path.dirname(z) + "/l")}
for k, f in ops.items():
    try:
        f(); print("FAIL:", k)
    except (OSError, AttributeError) as e:
        print("HELD:", k, type(e).__name__, getattr(e, "errno", None))
