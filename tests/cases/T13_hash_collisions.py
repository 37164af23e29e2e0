# T13: colliding keys make a guest quadratic (the seed of hash(str) is frozen): only the wall limit bounds it
# expect: timeout | ok
# prints: hash_randomization
import functools; print = functools.partial(print, flush=True)  # a trap loses buffered stdout
import sys
print("hash_randomization", sys.flags.hash_randomization, hash("a"))
class K(int):
    def __hash__(self):
        return 1
d = {}
for i in range(200_000):
    d[K(i)] = i
print("built", len(d))
