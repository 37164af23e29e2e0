# F45: what is no folder is no folder, and what is one cannot be read
# expect: ok
# prints: HELD: unlink a folder
import os
open("/work/f", "w").close()
os.makedirs("/work/d/e")
f = os.open("/work/f", os.O_RDONLY)
tries = {"unlink a folder": lambda: os.unlink("/work/d"), "rmdir a file": lambda: os.rmdir("/work/f"), "rmdir a full one": lambda: os.rmdir("/work/d"), "read a folder": lambda: open("/work/d", "rb").read(), "open it for writing": lambda: open("/work/d", "wb"), "below a file": lambda: open("/work/f/x", "w"), "below by dir_fd": lambda: os.open("x", os.O_CREAT, dir_fd=f),
         "list a file": lambda: os.listdir("/work/f"), "exclusive": lambda: open("/work/f", "x"), "mkdir over": lambda: os.mkdir("/work/f"), "O_DIRECTORY": lambda: os.open("/work/f", os.O_DIRECTORY), "slash": lambda: open("/work/f/"), "replace full": lambda: os.rename("/work/d/e", "/work/d/../d"), "write to a reader": lambda: os.write(f, b"x"), "chdir": lambda: os.chdir("/work/f")}
for name, t in tries.items():
    try:
        t()
        print("FAIL:", name)
    except (OSError, NotImplementedError) as e:
        print("HELD:", name, getattr(e, "errno", None))
