# F33: paths of every length
# expect: ok
# prints: HELD: 1000006
import os
for path in ("/work/" + "x" * 10 ** 6, "/work/" + "x/" * 5000, "/work/" + "./" * 100_000 + "f", "/" * 5000 + "work", "/work/" + "../work/" * 1000 + "f", "x" * 4097, "/work/" + "d/.." * 900):
    for f in (os.stat, os.mkdir, lambda p: open(p, "w"), os.listdir, lambda p: os.rename(p, "/work/r"), lambda p: os.rename("/work/r", p), os.unlink, lambda p: os.symlink(p, "/work/l"), os.readlink):
        try:
            f(path)
            print("check:", len(path))
        except OSError as e:
            print("HELD:", len(path), e.errno)
