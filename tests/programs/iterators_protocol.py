class Range2:
    def __init__(self, stop):
        self.stop = stop

    def __iter__(self):
        return Range2Iterator(self.stop)

    def __reversed__(self):
        return iter(range(self.stop - 1, -1, -1))


class Range2Iterator:
    def __init__(self, stop):
        self.at, self.stop = 0, stop

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.stop:
            raise StopIteration
        self.at += 1
        return self.at - 1

    def __length_hint__(self):
        return self.stop - self.at


class Old:
    def __getitem__(self, index):
        if index > 3:
            raise IndexError(index)
        return index * index


r = Range2(4)
print(list(r), list(r), list(reversed(r)), 2 in r, max(r), sum(r), dict(zip("ab", r)), [*r], sorted(r, reverse=True), list(Old()), 9 in Old(), list(map(str, Old())))
it = iter(r)
first, *rest = it
print(first, rest, next(it, None), tuple(it), iter(it) is it)
a, (b, *c), d = 1, (2, 3, 4), [5]
print(a, b, c, d, *r, {**{"x": 1}}, [x for pair in zip(r, r) for x in pair])
for bad in ("iter(5)", "next(5)", "list(5)", "for x in 5: pass", "a, b = 5", "a, b = r", "reversed(Old())", "len(r)", "r[0]", "[*5]",):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:60])
from collections.abc import Iterable, Iterator, Mapping, Sequence

print(isinstance(r, Iterable), isinstance(r, Iterator), isinstance(it, Iterator), isinstance(Old(), Iterable), isinstance([], Sequence), isinstance({}, Mapping))


class Lazy(Sequence):
    def __getitem__(self, i):
        return "abc"[i]

    def __len__(self):
        return 3


print(list(Lazy()), "b" in Lazy(), Lazy().index("c"), Lazy().count("a"), list(reversed(Lazy())))
