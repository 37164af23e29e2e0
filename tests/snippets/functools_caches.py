import functools
import operator

@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

for n in range(0, 91, 30):
    print(n, fib(n))
print(fib.cache_info())
print(functools.reduce(operator.mul, range(1, 6)), functools.partial(int, base=2)("101"))

@functools.singledispatch
def describe(value):
    return "something"

@describe.register
def _(value: int):
    return f"integer {value}"

@describe.register
def _(value: list):
    return f"list of {len(value)}"

print(describe(3), describe([1, 2]), describe("x"))

class Circle:
    def __init__(self, r):
        self.r = r

    @functools.cached_property
    def area(self):
        print("computing")
        return round(3.14159 * self.r ** 2, 2)

c = Circle(2)
print(c.area, c.area)

def logged(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        print("calling", func.__name__)
        return func(*args, **kwargs)
    return wrapper

@logged
def hello():
    """Says hello."""
    return "hello"

print(hello(), hello.__doc__, sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
