# T23: a Cartesian product that is never done
# expect: timeout | error | memory
import itertools
list(itertools.product(range(200), repeat=12))
print("FAIL: finished")
