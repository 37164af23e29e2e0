# F05: no link can be planted
# expect: ok
# prints: HELD: symlink a.txt
# prints: HELD: symlink loop
import os
for target, name in (("/etc/passwd", "a.txt"), ("../../../../etc/passwd", "b.txt"), ("/", "rootdir"), (".", "loop")):
    try:
        os.symlink(target, f"/work/{name}")
        print("planted", name, "->", os.readlink(f"/work/{name}"))
    except OSError as e:
        print("HELD: symlink", name, "errno", e.errno)
for name in ("a.txt", "b.txt", "rootdir/etc/passwd"):
    try:
        print("FAIL: guest read", open(f"/work/{name}").read(20))
    except OSError as e:
        print("HELD: open", name, "errno", e.errno)
