from itertools import (accumulate, batched, chain, combinations, count, cycle, groupby, islice, pairwise, permutations,
                       product, starmap, takewhile, zip_longest)

print(list(accumulate([1, 2, 3, 4])), list(islice(count(10, 5), 3)), list(islice(cycle("ab"), 5)))
print(["".join(p) for p in permutations("abc", 2)], list(combinations(range(4), 2)))
print({k: list(g) for k, g in groupby(sorted(["apple", "avocado", "banana"]), key=lambda w: w[0])})
print(list(pairwise("abcd")), list(batched(range(7), 3)))
print(list(zip_longest("ab", "xyz", fillvalue="-")), list(starmap(pow, [(2, 3), (3, 2)])))
print(list(takewhile(lambda n: n < 20, (n * n for n in count(1)))), len(list(product("ab", repeat=3))))
print(list(chain.from_iterable([[1], [2, 3]])))
