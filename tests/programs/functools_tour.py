import functools
from functools import cached_property, lru_cache, partial, reduce, singledispatch, total_ordering, wraps


@lru_cache(maxsize=3)
def square(n):
    print("computing", n)
    return n * n


print([square(n) for n in (1, 2, 1, 3, 4, 1)], square.cache_info())
square.cache_clear()
print(square.cache_info(), square.__wrapped__(2))


@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


for n in range(0, 200, 20):
    fib(n)
print(fib(190))
basetwo = partial(int, base=2)
print(basetwo("1010"), basetwo.func, basetwo.args, basetwo.keywords, reduce(lambda a, b: a * b, range(1, 6)), reduce(max, [], 0))


@singledispatch
def show(value):
    return f"object {value!r}"


@show.register
def _(value: int):
    return f"int {value}"


@show.register(list)
@show.register(tuple)
def _(value):
    return "seq " + ",".join(show(v) for v in value)


print(show(1), show(True), show("s"), show([1, (2, None)]), show.dispatch(bool) is show.registry[int])


@total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(map(int, text.split(".")))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts


print(Version("1.10") > Version("1.9"), Version("2.0") >= Version("2.0"), Version("1") <= Version("0.9"))


def traced(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        print(f"{function.__name__}{args} -> {result}")
        return result
    return wrapper


@traced
def add(a, b):
    """Adds."""
    return a + b


add(1, 2)
print(add.__name__, add.__doc__, add.__wrapped__(3, 4))


class Circle:
    def __init__(self, r):
        self.r = r

    @cached_property
    def area(self):
        print("area once")
        return round(3.14159 * self.r ** 2, 3)


c = Circle(2)
print(c.area, c.area, vars(c), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
