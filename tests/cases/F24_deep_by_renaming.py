# F24: depth by moving deep trees into deep trees
# expect: ok
# prints: HELD:
import os
def depth(path):
    n = 0
    while True:
        inside = [e.path for e in os.scandir(path) if e.is_dir()]
        if not inside:
            return n
        path, n = inside[0], n + 1
os.makedirs("/work/" + "/".join("a" * 14))
try:
    for i in range(200):
        os.makedirs("/work/b/" + "/".join("b" * 12))
        end = "/work/b/" + "/".join("b" * 12)
        os.rename("/work/a", end + "/a")
        os.rename("/work/b", "/work/a")
    print("FAIL: moved 200 times")
except OSError as e:
    print("HELD: errno", e.errno)
deepest = max(depth("/work"), 0)
print("FAIL: depth" if deepest > 34 else "HELD: depth", deepest)
