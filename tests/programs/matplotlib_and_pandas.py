# needs: matplotlib>=3.10 pandas>=3
import io

import matplotlib
matplotlib.use("Agg")
import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import pandas as pd

df = pd.DataFrame({"month": pd.date_range("2024-01-01", periods=12, freq="MS"), "sales": [3, 5, 2, 8, 9, 4, 7, 6, 1, 10, 12, 11]}).set_index("month")
df["mean"] = df.sales.rolling(3).mean()
ax = df.plot(title="Sales", figsize=(5, 3), grid=True)
print(type(ax).__name__, [line.get_label() for line in ax.lines], ax.get_title(), ax.get_lines()[0].get_ydata().tolist(), ax.get_xlabel())
for kind in ("bar", "barh", "area", "box", "hist"):
    axis = df[["sales"]].plot(kind=kind)
    print(kind, len(axis.patches), len(axis.lines), len(axis.collections))
fig, ax = plt.subplots()
ax.plot(df.index, df.sales)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
ax.fill_between(df.index, df.sales, alpha=0.3)
ax.axhline(6, color="k")
fig.canvas.draw()
print([t.get_text() for t in ax.get_xticklabels()][:4], mdates.date2num(df.index[0]), mdates.num2date(19723).date())
fig.autofmt_xdate()
buffer = io.BytesIO()
fig.savefig(buffer, bbox_inches="tight", dpi=60)
print(buffer.getvalue()[1:4], len(plt.get_fignums()))
plt.close("all")
fig, ax = plt.subplots(subplot_kw={"projection": "polar"})
ax.pie([1, 2, 3], labels=["a", "b", "c"], autopct="%1.0f%%") if False else ax.plot([0, 1, 2], [1, 2, 3])
print(ax.name, ax.get_rmax() > 3)
fig = plt.figure()
ax = fig.add_subplot(projection="3d")
ax.plot_surface(*[__import__("numpy").arange(9).reshape(3, 3) for _ in range(3)])
print(ax.name, len(ax.collections))
fig, (a, b) = plt.subplots(1, 2)
a.imshow([[0, 1], [2, 3]], cmap="gray")
b.boxplot([[1, 2, 3], [4, 5, 9]])
b.set(xlim=(0, 3), ylabel="y")
print(a.images[0].get_array().sum(), a.images[0].get_clim(), len(b.lines), b.get_xlim(), b.get_ylabel())
