import matplotlib.pyplot as plt, numpy as np, hashlib
plt.figure()
plt.scatter(np.random.rand(20), np.random.rand(20))
plt.savefig("/work/f.png")
plt.savefig("/work/f.svg")
print(hashlib.sha256(open("/work/f.png", "rb").read()).hexdigest(), hashlib.sha256(open("/work/f.svg", "rb").read()).hexdigest())
