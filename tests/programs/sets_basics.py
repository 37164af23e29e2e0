evens, primes = set(range(0, 20, 2)), {2, 3, 5, 7, 11, 13, 17, 19}
print(sorted(evens & primes), sorted(evens | primes), sorted(evens - primes), sorted(evens ^ primes))
print(evens.isdisjoint({1, 3}), {2} < primes, {2, 3} <= primes, primes >= {23}, evens == set(evens), len(primes))
small = {1, 2, 3}
small.add(4)
small.discard(9)
small.update([5], (6,))
small.intersection_update(range(2, 6))
print(small, 3 in small, {x % 3 for x in range(10)}, frozenset("ab") == {"a", "b"}, hash(frozenset([1, 2])) == hash(frozenset([2, 1])))
try:
    small.remove(99)
except KeyError as error:
    print("KeyError", error)
try:
    {1} + {2}
except TypeError as error:
    print(error)
seen, order = set(), []
for word in "the cat and the hat and the bat".split():
    if word not in seen:
        seen.add(word)
        order.append(word)
print(order, set(), {1: 2}.keys() | {3}, sorted(map(sorted, {frozenset([1, 2]), frozenset([2, 1])})))
