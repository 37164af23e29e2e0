import math, cmath, statistics, decimal, fractions
values = [math.sin(i) * 1e-3 + math.exp(i / 7) for i in range(50)]
print(sum(values), math.fsum(values), statistics.stdev(values), cmath.exp(1j), 0.1 + 0.2, math.gamma(5.5), float.hex(math.pi ** 100))
import numpy as np
print(np.linalg.svd(np.vander(values[:6]))[1].tolist(), np.dot(values, values), np.nan, np.float32(1) / 3)
