# needs: matplotlib>=3.10 numpy>=2
import io
import struct

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

fig, axes = plt.subplots(2, 2, figsize=(6, 4))
x = np.linspace(0, 2 * np.pi, 50)
axes[0, 0].plot(x, np.sin(x), "r--", label="sin")
axes[0, 0].legend()
axes[0, 1].bar(["a", "b", "c"], [3, 1, 2], color="tab:green")
axes[1, 0].scatter(x, np.cos(x), c=x, s=10)
axes[1, 1].hist(np.sin(x), bins=8)
fig.suptitle("Four plots")
fig.tight_layout()
buffer = io.BytesIO()
fig.savefig(buffer, format="png", dpi=50)
png = buffer.getvalue()
print(png[:8], struct.unpack(">II", png[16:24]), len(png) > 3000, fig.get_size_inches(), len(fig.axes), matplotlib.get_backend().lower())
print(axes[0, 0].get_xlim(), np.round(axes[0, 0].get_ylim(), 6), axes[0, 1].get_xticks(), [t.get_text() for t in axes[0, 1].get_xticklabels()], [float(p.get_height()) for p in axes[0, 1].patches], axes[0, 0].get_legend().get_texts()[0].get_text())
for kind in ("svg", "pdf"):
    buffer = io.BytesIO()
    fig.savefig(buffer, format=kind)
    print(kind, buffer.getvalue()[:5], len(buffer.getvalue()) > 5000)
fig.savefig("figure.png")
print(plt.imread("figure.png").shape, plt.get_fignums(), plt.fignum_exists(1))
plt.close(fig)
print(plt.get_fignums(), matplotlib.colors.to_hex("tab:blue"), matplotlib.colormaps["viridis"](0.5), matplotlib.rcParams["figure.dpi"])
plt.figure(figsize=(3, 2), dpi=100)
plt.plot([1, 2, 3], [1, 4, 9])
plt.title("Squares")
plt.xlabel("n")
plt.yscale("log")
plt.xticks([1, 2, 3], ["one", "two", "three"])
plt.annotate("here", (2, 4), xytext=(1.5, 6), arrowprops={"arrowstyle": "->"})
print(plt.gca().get_title(), plt.gca().get_yscale(), plt.gcf().canvas.get_width_height(), [t.get_text() for t in plt.gca().get_xticklabels()])
try:
    plt.plot([1, 2], [1, 2, 3])
except ValueError as error:
    print(error)
try:
    plt.savefig("x.nope")
except ValueError as error:
    print(str(error)[:30])
