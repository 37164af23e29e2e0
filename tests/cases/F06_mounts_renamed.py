# F06: nothing moves into, out of or over the read-only folders
# expect: ok
# prints: HELD: out
import os, shutil
z = "/usr/local/lib/python315.zip"
open("/work/a", "w").write("x")
os.mkdir("/work/d")
tries = {"out": lambda: os.rename(z, "/work/z"), "in": lambda: os.rename("/work/a", "/usr/local/lib/a"), "over": lambda: os.replace("/work/a", z), "folder": lambda: os.rename("/usr/local/lib", "/work/lib"), "swap": lambda: os.rename("/work/d", "/usr/local/lib"),
         "root": lambda: os.rename("/work", "/work2"), "root in": lambda: os.rename("/work/d", "/d"), "work over tmp": lambda: os.rename("/work", "/tmp"), "link out": lambda: os.link(z, "/work/z"), "link in": lambda: os.link("/work/a", "/usr/local/lib/l"),
         "move": lambda: shutil.move("/usr/local/lib", "/work/lib2"), "rmdir": lambda: os.rmdir("/usr"), "rmtree": lambda: shutil.rmtree("/usr/local/lib"), "mkdir": lambda: os.mkdir("/new"), "file": lambda: open("/new", "w"), "rmdir work": lambda: os.rmdir("/work")}
for name, f in tries.items():
    try:
        f()
        print("FAIL:", name)
    except (OSError, AttributeError, shutil.Error) as e:
        print("HELD:", name, type(e).__name__, getattr(e, "errno", None))
import json.tool
print("library still there", os.path.getsize(z) > 10 << 20)
