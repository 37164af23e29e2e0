# S11: fresh randomness in each run of one snapshot
# runs: 2
# differs
# expect: ok
import os, random, uuid, sys
import numpy as np
print(random.random(), np.random.rand(), uuid.uuid4(), os.urandom(8).hex(), "hash", hash("a"), sys.flags.hash_randomization)
