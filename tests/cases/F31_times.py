# F31: times of files that no calendar has
# expect: ok
import os
open("/work/a", "w").close()
for kw in ({"times": (2 ** 62, 2 ** 62)}, {"ns": (-1, -1)}, {"ns": (2 ** 63 - 1, 2 ** 63 - 1)}, {"ns": (2 ** 64, 0)}, {"times": (-1e18, 1e300)}, {"times": (float("nan"), 0)}, {"ns": (0, 0)}):
    try:
        os.utime("/work/a", **kw)
        print("check:", kw, os.stat("/work/a").st_mtime_ns)
    except (OSError, OverflowError, ValueError) as e:
        print("HELD:", kw, type(e).__name__)
