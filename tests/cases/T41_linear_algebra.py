# T41: a long computation in compiled numerical code
# expect: timeout | error | memory
import numpy as np
a = np.random.rand(2000, 2000)
while True:
    np.linalg.svd(a)
