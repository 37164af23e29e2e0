import itertools as it
import operator

print(list(it.accumulate([1, 2, 3, 4])), list(it.accumulate([3, 1, 4], max)), list(it.accumulate([1, 2], operator.mul, initial=10)))
print(list(it.chain("ab", [1])), list(it.chain.from_iterable([[1], [2, 3]])), list(it.compress("abcd", [1, 0, 1, 1])))
print(list(it.combinations("abc", 2)), list(it.combinations_with_replacement("ab", 2)), list(it.permutations([1, 2, 3], 2)))
print(list(it.product("ab", [1, 2])), list(it.product([0, 1], repeat=2)), list(it.islice(it.count(10, 3), 4)))
print(list(it.islice(it.cycle("xyz"), 7)), list(it.repeat("r", 3)), list(it.dropwhile(lambda n: n < 3, [1, 4, 2])), list(it.takewhile(str.isalpha, "ab1c")))
print(list(it.filterfalse(lambda n: n % 2, range(6))), list(it.starmap(pow, [(2, 3), (3, 2)])), list(it.zip_longest("abc", [1], fillvalue="-")))
print([(k, "".join(g)) for k, g in it.groupby("aaabbc")], [(k, list(g)) for k, g in it.groupby(range(7), key=lambda n: n // 3)])
a, b, c = it.tee(iter("hey"), 3)
print(next(a), list(b), list(a), list(c), list(it.pairwise([1, 2, 3, 4])))
print(sum(1 for _ in it.combinations(range(12), 5)), next(it.islice(it.count(), 1000, None)), it.count(2.5, 0.5), it.repeat(1))
words = sorted(["apple", "bob", "ant", "cat", "boat"], key=lambda w: (w[0], -len(w)))
print({k: list(v) for k, v in it.groupby(words, key=operator.itemgetter(0))})
try:
    it.islice([1], -1)
except ValueError as error:
    print(error)
