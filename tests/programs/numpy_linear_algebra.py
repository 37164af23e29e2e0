# needs: numpy>=2
import numpy as np

A = np.array([[4.0, 2, 0], [2, 5, 1], [0, 1, 3]])
b = np.array([2.0, -1, 4])
x = np.linalg.solve(A, b)
print(np.round(x, 10), np.allclose(A @ x, b), round(np.linalg.det(A), 8), np.linalg.matrix_rank(A), np.trace(A))
values, vectors = np.linalg.eigh(A)
print(np.round(values, 8), np.allclose(vectors @ np.diag(values) @ vectors.T, A))
print(np.round(np.linalg.inv(A), 8), np.round(np.linalg.cholesky(A), 8), np.linalg.norm(b), np.linalg.norm(A, 1), np.round(np.linalg.cond(A), 6))
q, r = np.linalg.qr(A)
print(np.allclose(q @ r, A), np.allclose(q.T @ q, np.eye(3)), np.round(np.abs(np.diag(r)), 8))
u, s, vt = np.linalg.svd(np.arange(6.0).reshape(2, 3))
print(np.round(s, 8), np.allclose((u * s) @ vt[:2], np.arange(6.0).reshape(2, 3)))
slope, intercept = np.polyfit([0, 1, 2, 3], [1, 3.1, 4.9, 7], 1)
print(round(slope, 6), round(intercept, 6), np.polyval([1, 2, 3], 2), np.roots([1, -3, 2]), np.round(np.linalg.lstsq(np.c_[np.arange(4.0), np.ones(4)], [1, 3.1, 4.9, 7], rcond=None)[0], 6))
print(np.outer([1, 2], [3, 4]), np.cross([1, 0, 0], [0, 1, 0]), np.dot([1, 2], [3, 4]), np.kron([1, 2], [1, 1]), np.einsum("ij,jk->ik", A, A)[0], np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 10))
print(np.round(np.abs(np.fft.fft([1, 2, 3, 4])), 8), np.round(np.fft.ifft(np.fft.fft([1, 2])).real, 8), np.convolve([1, 2, 3], [0, 1]), np.corrcoef([1, 2, 3], [1, 2, 4])[0, 1].round(8), np.cov([1, 2, 3], [3, 2, 1]))
