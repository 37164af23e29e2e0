import numpy as np
g = np.random.default_rng()
print(g.random(2), np.random.rand(2))
# --- turn ---
print(g.random(2), np.random.rand(2), np.random.SeedSequence().entropy)
# --- turn ---
print(g.choice(100, 5, replace=False), np.random.choice(100, 5))
