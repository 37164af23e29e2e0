import numpy as np

a = np.arange(12).reshape(3, 4)
print(a, a.sum(axis=0), a[a % 2 == 0], a.T.shape, sep="\n")
print(np.linalg.solve(np.array([[2.0, 1], [1, 3]]), [3, 5]), np.dot([1, 2], [3, 4]), np.linalg.eigvalsh([[2, 0], [0, 3]]))
print(np.where(a > 5, a, -1)[1], np.concatenate([a[0], a[1]]), np.unique([3, 1, 3]), np.cumsum([1, 2, 3]))
np.savetxt("a.csv", a, delimiter=",", fmt="%d")
print(np.loadtxt("a.csv", delimiter=",").shape, np.isnan(np.array([1, np.nan])).any(), np.float64(1) / 3)
np.savez("arrays.npz", a=a, b=a * 2)
with np.load("arrays.npz") as arrays:
    print(sorted(arrays.files), arrays["b"].max())
print(np.polyfit([0, 1, 2], [1, 3, 5], 1).round(6), np.convolve([1, 2], [1, 1]), np.fft.fft([1, 0, 0, 0]).real)
