import random
import numpy as np

random.seed(42)
print(random.randint(1, 100), round(random.random(), 6), random.choice("abc"), random.sample(range(10), 3))
deck = list(range(8))
random.shuffle(deck)
print(deck, random.choices(["h", "t"], weights=[9, 1], k=5), round(random.gauss(0, 1), 6))
rng = np.random.default_rng(42)
print(rng.integers(0, 100, 5), np.round(rng.normal(size=3), 4), rng.permutation(5))
np.random.seed(0)
print(np.round(np.random.rand(3), 4), np.random.randint(0, 10, 4))
