# T08: listing the largest folder that the quotas allow, thousands of times: linear, and stopped in time
# expect: timeout
# prints: listed
import os
n = 0
os.mkdir("/work/many")
try:
    for n in range(10_000):
        open(f"/work/many/{n:06}" + "x" * 200, "w").close()
    print("FAIL: made", n)
except OSError:
    pass
print("listed", len(os.listdir("/work/many")) > 900)
while True:
    assert len(os.listdir("/work/many")) == n
    for entry in os.scandir("/work/many"):
        entry.stat()
