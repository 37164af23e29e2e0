import operator
from operator import attrgetter, itemgetter, methodcaller

print(operator.add(1, 2), operator.truediv(7, 2), operator.contains([1], 1), operator.not_([]), operator.xor(5, 3), operator.index(True), operator.concat("a", "b"), operator.countOf([1, 1, 2], 1))
print(itemgetter(1)("abc"), itemgetter(0, 2)("abc"), itemgetter(slice(1))("abc"), attrgetter("real", "imag")(1 + 2j), methodcaller("split", ",")("a,b"))
print(abs(-3), divmod(17, 5), pow(2, 10, 1000), round(3.14159, 2), bin(5), hex(255), oct(8), chr(97), ord("a"), bool("0"), callable(len), isinstance(True, int), issubclass(bool, int))
print(max(3, 1, 2), max("ab", "c", key=len), max([], default=0), min({"b": 1, "a": 2}), sum([[1], [2]], []), sum((0.5, 1)), any(x > 2 for x in (1, 3)), all([]))
print(list(enumerate("ab", start=1)), list(filter(None, [0, 1, "", "a"])), list(map(max, [1, 5], [3, 2])), list(reversed(range(3))), sorted("bca"), list(zip()), list(range(10, 0, -3)), range(5)[-1], 3 in range(0, 9, 3), len(range(0, 10, 3)))
print(type(1), type("").__name__, id(1) == id(1), hash("a") == hash("a"), repr("q"), ascii("é"), format(5, "03"), vars(type("T", (), {"x": 1})())["x"] if False else "-", getattr(1, "real"), hasattr("", "nope"), dir([])[:2], slice(1, 5, 2).indices(4))
print(int(), str(), list(), dict(), tuple(), set(), float(), complex(), bool(), bytes(), frozenset(), object().__class__.__name__, NotImplemented is NotImplemented, ... is Ellipsis, None.__class__.__name__)
print(*[1, 2], sep="", end=".\n")
print(iter([1]).__length_hint__(), next(iter(()), "default"), list(iter(iter([1, 2, 0, 3]).__next__, 0)), isinstance(1, int | str), isinstance([], (tuple, list)), eval("2 ** 3"), compile("1", "f", "eval").co_filename, globals()["__name__"], len(locals()) > 5)
for bad in ("abs('a')", "sum(['a'])", "max()", "max([])", "pow(2, 3, 0)", "range(0, 1, 0)", "chr(1114112)", "round('1')", "isinstance(1, 'int')", "iter(5)", "next([])", "int(None)", "hash([])", "sorted(5)", "map()", "zip(1)", "enumerate()", "reversed({1})", "getattr(1, 'nope')", "format(1, 's')", "print(sep=1)", "input('x', 1)", "open()", "dict(a=1, **{'a': 2})", "str(b'x', 'nope')"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__)
