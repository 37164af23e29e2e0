# needs: numpy>=2
# How many bits numpy's default integer has, and what overflows with it.
import numpy as np

print(np.arange(3).dtype, np.array([1, 2]).dtype, np.int_)
print(np.arange(100_000).sum(), np.array([100_000]) ** 2, np.prod(np.arange(1, 16)))
print(np.arange(100_000, dtype="int64").sum(), np.array([100_000], dtype=np.int64) ** 2, np.arange(100_000.0).sum())
print(np.array([2 ** 40]).dtype, repr(np.arange(2)), repr(np.array([1, 2], dtype=np.int64)))
