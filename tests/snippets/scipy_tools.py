import numpy as np
from scipy import integrate, interpolate, linalg, optimize, stats

print(round(integrate.quad(lambda x: np.exp(-x ** 2), -np.inf, np.inf)[0], 6))
print(round(optimize.brentq(lambda x: x ** 3 - 2, 0, 2), 6))
fit, _ = optimize.curve_fit(lambda x, a, b: a * x + b, np.arange(5.0), np.array([1.0, 3, 5, 7, 9]))
print(np.round(fit, 3))
print(np.round(linalg.solve([[3, 1], [1, 2]], [9, 8]), 6))
print(np.round(interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(1.5), 4))
t, p = stats.ttest_ind([5.1, 4.9, 5.6, 5.8], [6.1, 6.3, 5.9, 6.6])
print(round(float(t), 3), bool(p < 0.05))
result = optimize.minimize(lambda v: (v[0] - 1) ** 2 + (v[1] + 2) ** 2, [0, 0])
print(result.success, np.round(result.x, 3))
