# needs: numpy>=2
import numpy as np

rng = np.random.default_rng(12345)
print(rng.random(3), rng.integers(0, 100, 5), rng.choice(["a", "b", "c"], 4), rng.permutation(5), rng.bytes(4).hex())
print(rng.normal(10, 2, 3), rng.standard_normal(2), rng.uniform(-1, 1, 2), rng.exponential(2, 2), rng.poisson(4, 5), rng.binomial(10, 0.3, 5))
x = np.arange(6)
rng.shuffle(x)
print(x, rng.gamma(2.0, size=2), rng.beta(1, 2, 2), rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]).shape, rng.integers(10, endpoint=True), rng.geometric(0.3, 3), rng.chisquare(3))
np.random.seed(42)
print(np.random.rand(2), np.random.randn(2), np.random.randint(0, 10, 5), np.random.choice([1, 2, 3], 3, p=[0.1, 0.2, 0.7]), np.random.uniform(size=2), np.random.permutation(4))
old = np.random.RandomState(7)
print(old.rand(), old.normal(), old.randint(100), old.get_state()[0])
print(np.random.Generator(np.random.PCG64(1)).random(), np.random.Generator(np.random.MT19937(1)).random(), np.random.Generator(np.random.Philox(1)).random(), np.random.SeedSequence(5).generate_state(2))
sample = np.random.default_rng(0).normal(size=10_000)
print(sample.mean().round(12), sample.std().round(12), np.percentile(sample, [5, 50, 95]).round(10), np.histogram(sample, bins=5)[0])
