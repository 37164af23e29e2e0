# F41: frames written beyond the quota
# expect: ok
# prints: HELD: to_csv
import os
import numpy as np, pandas as pd
frame = pd.DataFrame(np.random.rand(60_000, 30))
for name, f in (("to_csv", lambda: frame.to_csv("/work/f.csv")), ("to_pickle", lambda: pd.concat([frame] * 6).to_pickle("/work/f.pkl")), ("savez", lambda: [np.savez(f"/work/{i}.npz", frame.values) for i in range(9)])):
    for _ in range(3):
        try:
            f()
        except OSError as e:
            print("HELD:", name, e.errno)
            break
    else:
        print("check:", name, sum(e.stat().st_size for e in os.scandir("/work")))
    for e in list(os.scandir("/work")):
        os.unlink(e.path)
