# F34: the current folder is removed, and its descriptor used
# expect: ok
# prints: HELD: create
import os
os.mkdir("/work/d")
os.chdir("/work/d")
fd = os.open("/work/d", os.O_RDONLY)
os.rmdir("/work/d")
for name, f in {"create": lambda: open("x", "w"), "create at": lambda: os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=fd), "mkdir at": lambda: os.mkdir("x", dir_fd=fd), "rename into": lambda: os.rename("/work", "d", dst_dir_fd=fd)}.items():
    try:
        f()
        print("FAIL:", name)
    except (OSError, NotImplementedError) as e:
        print("HELD:", name, getattr(e, "errno", None))
for name, f in {"list": lambda: os.listdir(fd), "up": lambda: os.stat("..", dir_fd=fd), "cwd": os.getcwd}.items():
    try:
        print("check:", name, f())
    except (OSError, TypeError) as e:
        print("HELD:", name, type(e).__name__)
# --- turn ---
# expect: ok
import os
os.chdir("/work")
open("x", "w").write("x")
