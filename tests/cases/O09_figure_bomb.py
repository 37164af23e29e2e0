# O09: a figure of 14 GiB: MemoryError, the file quota or the wall limit
# expect: ok | error | timeout | memory
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
try:
    fig = plt.figure(figsize=(600, 600), dpi=100)   # 60000 x 60000 px RGBA = 14 GiB
    fig.savefig("/work/bomb.png")
    print("FAIL: saved")
except (MemoryError, ValueError, OSError) as e:
    print("HELD:", type(e).__name__)
