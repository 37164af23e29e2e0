# F11: a deep tree ends at the quota of depth
# expect: ok
# prints: HELD: errno
import os
d, n = "/work", 0
try:
    os.chdir("/work")
    for n in range(4000):
        os.mkdir("d"); os.chdir("d")
    print("FAIL unless cleanup copes: depth", n + 1)
except OSError as e:
    print("HELD: errno", e.errno, "at depth", n)
