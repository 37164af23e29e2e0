# F12: names that change what they are, over and over, until the wall limit: the host's look at them follows nothing
# expect: timeout
import os
n = 0
while True:
    n += 1
    for swap in (lambda: os.mkdir("/work/x"), lambda: open("/work/x/f", "w").write("inside"), lambda: os.rename("/work/x", "/work/y"), lambda: open("/work/x", "w").write("file"), lambda: os.rename("/work/y", "/work/x"),
                 lambda: os.symlink("/etc", "/work/x"), lambda: os.unlink("/work/x"), lambda: os.rename("/work/y/f", "/work/x"), lambda: os.rmdir("/work/y"), lambda: os.unlink("/work/y/f")):
        try:
            swap()
        except OSError:
            pass
