# How wide a hash is shows in the values of hash() and in what is seeded with them.
import random
import sys

print(sys.hash_info.width, sys.maxsize, hash(2 ** 61), hash(1.5), hash((1, 2, 3)), hash(10 ** 20), hash(-1), hash(None) is not None)
print(random.Random(3.5).random())
print(sys.getsizeof(0), sys.getsizeof([]), sys.getsizeof(""), sys.getsizeof({}))
print({hash(n) for n in range(5)}, len({hash((a, b)) for a in range(100) for b in range(100)}))
