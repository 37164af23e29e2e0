import numpy as np
print(np.random.random(3), np.random.normal(size=2), np.random.default_rng().integers(0, 10 ** 9, 4))
print(np.random.default_rng().bit_generator.state["state"], np.random.permutation(9))
