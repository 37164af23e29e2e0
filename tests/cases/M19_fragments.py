# M19: blocks of odd sizes, freed in odd orders, for ever: memory stays within its limit
# expect: timeout | error | memory
import random
kept = {}
n = 0
while True:
    n += 1
    kept[n % 5000] = bytearray(random.randrange(1, 60_000))
    if n % 7 == 0:
        kept.pop(random.randrange(5000), None)
