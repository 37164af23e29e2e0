# F25: a folder cannot become its own child, a root cannot move, and a name can be itself
# expect: ok
# prints: HELD: errno 28
import os
os.makedirs("/work/a/b/c")
open("/work/f", "w").write("f")
for a, b in (("/work/a", "/work/a/b/d"), ("/work/a", "/work/a/b/c"), ("/work/a", "/work/a/../a/b/x"), ("/work", "/work/a/w"), ("/tmp", "/work/tmp"), ("/work/a/b", "/work/a"), ("/work/f", "/work/a"), ("/work/a", "/work/f"), ("/work/none", "/work/x"), ("/work/f/x", "/work/y"), ("/work/f", "/work/f/")):
    try:
        os.rename(a, b)
        print("FAIL: renamed", a, b)
    except OSError as e:
        print("HELD: errno", e.errno, a, b)
os.rename("/work/f", "/work/f")
print(open("/work/f").read(), sorted(r for r, _, _ in os.walk("/work")))
