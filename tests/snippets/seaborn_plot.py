import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

rng = np.random.default_rng(0)
df = pd.DataFrame({"x": rng.normal(size=50), "group": ["a", "b"] * 25})
df["y"] = 2 * df["x"] + rng.normal(scale=0.3, size=50)
ax = sns.scatterplot(data=df, x="x", y="y", hue="group")
ax.set_title("Two groups")
plt.savefig("scatter.png", dpi=80)
plt.close()
sns.heatmap(df[["x", "y"]].corr(), annot=True)
plt.savefig("heat.png")
plt.close("all")
for name in ("scatter.png", "heat.png"):
    data = open(name, "rb").read()
    print(name, data[:8] == b"\x89PNG\r\n\x1a\n", len(data) > 2000)
print(round(df[["x", "y"]].corr().iloc[0, 1], 2) > 0.9)
