# M13: frames of a size that nobody has
# expect: ok | memory
import functools; print = functools.partial(print, flush=True)
import numpy as np, pandas as pd
a = pd.DataFrame({"k": np.zeros(12_000, "i4")})
for name, f in (("frame", lambda: pd.DataFrame(np.ones((10 ** 4, 10 ** 4)))), ("cross", lambda: a.merge(a, on="k")), ("tile", lambda: np.tile(np.arange(10 ** 6), 200)), ("explode", lambda: pd.Series([range(10 ** 8)]).explode()),
                ("range", lambda: pd.RangeIndex(10 ** 8).to_series()), ("eye", lambda: np.eye(10 ** 4)), ("string", lambda: np.zeros(10, "U20000000"))):
    try:
        print("FAIL: got", name, len(f()))
    except (MemoryError, ValueError, OverflowError, TypeError) as e:
        print("HELD:", name, type(e).__name__)
