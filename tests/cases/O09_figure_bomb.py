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
# --- turn ---
# expect: ok
# lacks: FAIL

# Open at the end of the cell and too large to draw: a text says so.
import matplotlib.pyplot as plt
for side in (600, 10_000, 1e6):
    plt.figure(figsize=(side, side)).gca()
# --- turn ---
# expect: ok

# Small, but something in it reaches very far: it is drawn without that.
plt.figure().text(1e5, 0.5, "far")
plt.figure().text(-1e300, float("inf"), "farther")
# --- turn ---
# expect: ok
# prints: opened

# More figures than a cell may show.
for i in range(60):
    plt.figure(figsize=(1, 1))
print("opened")
# --- turn ---
# expect: error
# raises: KeyError
# lacks: FAIL

# Drawing raises, exits, opens figures, and cannot change how the cell ended.
from matplotlib.artist import Artist
class Evil(Artist):
    def __init__(self, what):
        super().__init__()
        self.what = what
    def draw(self, renderer):
        self.what()
def leave():
    raise SystemExit(0)
def more():
    plt.figure().add_artist(Evil(more))
def rubbish():
    from matplotlib._pylab_helpers import Gcf
    Gcf.figs["x"] = Gcf.figs[-1] = Gcf.figs
for what in (leave, more, rubbish, lambda: display(1), plt.show):
    plt.figure().add_artist(Evil(what))
raise KeyError
# --- turn ---
# expect: timeout

# The wall limit covers the drawing.
def spin():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
plt.figure().add_artist(Evil(spin))
# --- turn ---
# expect: ok | timeout

# Figures with much in them: bytes have a bound.
import numpy as np
for i in range(8):
    plt.figure(figsize=(9, 9)).add_axes([0, 0, 1, 1]).imshow(np.random.random((900, 900, 3)))
print(len(plt.get_fignums()))
