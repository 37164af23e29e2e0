# needs: numpy>=2
import numpy as np

a = np.arange(12).reshape(3, 4)
print(a, a.shape, a.dtype.kind, a.T.tolist(), a[1], a[:, 2], a[1:, ::2], a[a % 2 == 0], a[[0, 2], [1, 3]], a[-1, -1])
print(a.sum(), a.sum(axis=0), a.mean(axis=1), a.min(), a.max(axis=1), a.argmax(), a.cumsum()[:5], a.prod(axis=0), np.ptp(a))
print(np.zeros((2, 3)), np.ones(3, dtype=int), np.full((2, 2), 7.5), np.eye(2), np.linspace(0, 1, 5), np.logspace(0, 3, 4), np.arange(0, 1, 0.25))
b = a.astype(float)
b[b > 6] = np.nan
print(b, np.isnan(b).sum(), np.nanmean(b), np.nan_to_num(b)[2])
print(np.concatenate([a, a[:1]]), np.vstack([[1, 2], [3, 4]]), np.hstack([[1], [2]]), np.stack([[1, 2], [3, 4]], axis=1), np.split(np.arange(6), 3), np.tile([1, 2], 2), np.repeat([1, 2], 2))
print(np.where(a > 5, a, -1), np.clip(a, 2, 8), np.unique([3, 1, 3, 2], return_counts=True), np.sort([3, 1, 2])[::-1], np.argsort([3, 1, 2]), np.diff([1, 4, 9]), np.flip([1, 2]), np.roll([1, 2, 3], 1))
print(a + np.array([1, 2, 3, 4]), a * a[:, :1], a @ a.T, a // 2, a ** 2, a / 4, ~(a > 3), (a > 3) & (a < 8), np.any(a > 10), np.all(a >= 0))
c = a[0]
c[0] = 99
print(a[0, 0], c.base is not None, a.copy()[0, 0], np.shares_memory(a, c), a.ravel()[:3], a.size, a.ndim, a.astype("int64").nbytes)
for bad in ("a + np.arange(3)", "a.reshape(5, 5)", "a[5]", "np.array([[1, 2], [3]])", "a @ a", "np.concatenate([a, [1]])", "a[0.5]", "if a: pass", "np.linalg.inv(np.zeros((2, 2)))", "np.array(['a']) + 1"):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:70])
