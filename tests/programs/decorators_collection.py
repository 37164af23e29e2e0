import functools
import time


def retry(times, exceptions=(Exception,)):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except exceptions as error:
                    print(f"attempt {attempt}: {error}")
                    if attempt == times:
                        raise
        return wrapper
    return decorate


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        start = time.perf_counter()
        try:
            return function(*args)
        finally:
            wrapper.calls += 1
            wrapper.spent += time.perf_counter() - start
    wrapper.calls, wrapper.spent = 0, 0.0
    return wrapper


class CountCalls:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function, self.count = function, 0

    def __call__(self, *args):
        self.count += 1
        return self.function(*args)

    def __get__(self, instance, owner):
        return functools.partial(self, instance)


state = {"n": 0}


@retry(3, (ValueError,))
def flaky(limit):
    """Fails at first."""
    state["n"] += 1
    if state["n"] < limit:
        raise ValueError(f"not yet {state['n']}")
    return state["n"]


@timed
@CountCalls
def add(a, b):
    return a + b


class Thing:
    @CountCalls
    def method(self, x):
        return x * 2

    @functools.cached_property
    def slow(self):
        print("once")
        return 1

    @staticmethod
    @timed
    def fixed(x):
        return -x


print(flaky(3), flaky.__name__, flaky.__doc__, add(1, 2), add(3, 4), add.calls, add.spent > 0, add.__wrapped__.count)
t = Thing()
print(t.method(4), Thing.__dict__["method"].count, t.slow + t.slow, Thing.fixed(5), Thing.fixed.calls)
try:
    state["n"] = -5
    flaky(10)
except ValueError as error:
    print("gave up:", error)


def validate(**kinds):
    def decorate(function):
        def wrapper(**given):
            for name, kind in kinds.items():
                if not isinstance(given.get(name), kind):
                    raise TypeError(f"{name}: expected {kind.__name__}, got {type(given.get(name)).__name__}")
            return function(**given)
        return wrapper
    return decorate


@validate(age=int, name=str)
def greet(name, age):
    return f"{name} is {age}"


print(greet(name="Ann", age=3))
try:
    greet(name="Bob")
except TypeError as error:
    print(error)
