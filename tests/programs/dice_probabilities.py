import random
from collections import Counter
from fractions import Fraction
from itertools import product

totals = Counter(sum(dice) for dice in product(range(1, 7), repeat=2))
for total, ways in sorted(totals.items()):
    print(f"{total:2} {Fraction(ways, 36)!s:>5} {'#' * ways}")
random.seed(1)
rolls = [random.randint(1, 6) + random.randint(1, 6) for _ in range(3600)]
print(Counter(rolls).most_common(3), sum(rolls) / len(rolls))


def birthday(people):
    p = Fraction(1)
    for n in range(people):
        p *= Fraction(365 - n, 365)
    return float(1 - p)


print(next(n for n in range(1, 100) if birthday(n) > 0.5), round(birthday(23), 6))
wins = {True: 0, False: 0}
for _ in range(2000):
    car, pick = random.randrange(3), random.randrange(3)
    opened = next(d for d in random.sample(range(3), 3) if d not in (car, pick))
    wins[True] += next(d for d in range(3) if d not in (pick, opened)) == car
    wins[False] += pick == car
print("switch", wins[True], "stay", wins[False])
print(random.choices(["H", "T"], k=10), random.sample(range(1, 50), 6))
