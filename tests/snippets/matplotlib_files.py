import os
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 2 * np.pi, 100)
fig, axes = plt.subplots(1, 2, figsize=(8, 3))
axes[0].plot(x, np.sin(x), label="sin")
axes[0].plot(x, np.cos(x), "--", label="cos")
axes[0].legend()
axes[1].bar(["a", "b", "c"], [3, 1, 2], color="tab:green")
axes[1].set_ylabel("count")
fig.suptitle("Two panels")
fig.tight_layout()
for kind in ("png", "svg", "pdf"):
    fig.savefig(f"figure.{kind}")
    print(kind, os.path.getsize(f"figure.{kind}") > 1000)
print([line.get_label() for line in axes[0].lines], len(axes[1].patches))
plt.close(fig)
