# F41: frames written beyond the quota
# expect: ok
# prints: HELD: to_csv
import os
import numpy as np, pandas as pd
frame = pd.DataFrame({"text": ["x" * 10_000] * 8000})
numbers = np.zeros((100, 50_000))
for name, f in (("to_csv", lambda: frame.to_csv("/work/f.csv")), ("to_pickle", lambda: pd.DataFrame(numbers.repeat(2, 0)).to_pickle("/work/f.pkl")), ("savez", lambda: [np.savez(f"/work/{i}.npz", numbers) for i in range(9)])):
    open("/work/most", "wb").write(bytes(45 << 20))
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
