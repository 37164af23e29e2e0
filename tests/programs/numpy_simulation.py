# needs: numpy>=2
import numpy as np

rng = np.random.default_rng(7)
steps = rng.choice([-1, 1], size=(1000, 100))
walks = steps.cumsum(axis=1)
print(walks[:, -1].mean(), walks[:, -1].std().round(6), np.abs(walks).max(), (walks == 0).sum())
points = rng.random((10_000, 2))
print("pi", 4 * (np.hypot(*points.T) < 1).mean())
grid = np.zeros((8, 8), int)
grid[1:4, 2] = 1
for _ in range(3):
    n = sum(np.roll(grid, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
    grid = ((n == 3) | (grid & (n == 2))).astype(int)
print(grid)
x = np.linspace(-2, 2, 5)
X, Y = np.meshgrid(x, x)
Z = X ** 2 - Y ** 2
print(Z, np.gradient(x ** 2), np.trapezoid(x ** 2, x), np.interp(0.5, x, x ** 2), np.searchsorted(x, 0.1), np.digitize([0.2, 1.5], x))
data = np.column_stack([np.ones(50), np.arange(50)])
y = data @ [3, 0.5] + rng.normal(0, 0.1, 50)
w = np.zeros(2)
for _ in range(2000):
    w -= 0.0005 * data.T @ (data @ w - y) / 50
print(np.round(w, 4), np.round(np.linalg.lstsq(data, y, rcond=None)[0], 6))
centers = rng.random((3, 2))
for _ in range(5):
    nearest = np.linalg.norm(points[:300, None] - centers, axis=2).argmin(axis=1)
    centers = np.array([points[:300][nearest == k].mean(axis=0) for k in range(3)])
print(np.round(centers, 6), np.bincount(nearest))
