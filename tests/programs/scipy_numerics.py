# needs: scipy>=1.14 numpy>=2
import numpy as np
from scipy import integrate, interpolate, linalg, optimize, sparse, special, stats

print(round(integrate.quad(lambda x: np.exp(-x ** 2), -np.inf, np.inf)[0], 10), np.round(integrate.solve_ivp(lambda t, y: -y, (0, 2), [1.0], t_eval=[1, 2], rtol=1e-8).y, 6))
print(np.round(optimize.minimize(lambda p: (p[0] - 1) ** 2 + (p[1] + 2) ** 2, [0, 0]).x, 4), round(optimize.brentq(lambda x: x ** 3 - 2, 0, 2), 10), np.round(optimize.curve_fit(lambda x, a, b: a * x + b, np.arange(5.0), np.arange(5.0) * 2 + 1)[0], 6), optimize.linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=[(0, 3), (0, 3)]).x)
print(np.round(interpolate.CubicSpline([0, 1, 2], [0, 1, 8])(1.5), 8), np.round(linalg.expm(np.array([[0.0, 1], [0, 0]])), 8), np.round(linalg.lu(np.array([[2.0, 1], [1, 3]]))[2], 8), sparse.csr_matrix(np.eye(3)).nnz)
print(np.round(special.gamma([0.5, 5]), 8), round(special.erf(0.5), 10), special.comb(10, 3), round(stats.norm.ppf(0.975), 8), round(stats.norm.cdf(1.96), 8))
a, b = [5.1, 4.9, 6.2, 5.7], [6.5, 6.8, 7.1, 6.4]
test = stats.ttest_ind(a, b)
print(round(test.statistic, 8), round(test.pvalue, 8), np.round(stats.linregress(range(5), [1, 3, 4, 7, 9]), 6), round(stats.pearsonr(a, b)[0], 8), np.round(stats.chi2_contingency([[10, 20], [20, 10]])[:2], 8), stats.mode([1, 2, 2]).mode)
