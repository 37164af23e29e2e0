def f(a, b=2, /, c=3, *args, d, e=5, **kwargs):
    return a, b, c, args, d, e, kwargs


print(f(1, d=4), f(1, 2, 3, 4, 5, d=6, z=7), f(*[1, 2], **{"d": 3, "a": 9}))
for call in ("f()", "f(1)", "f(a=1, d=2)", "f(1, d=2, d=3)", "f(1, 2, b=3)", "f(1, *[2], c=3, **{'c': 4}, d=1)", "f(1, d=2)(3)", "len()", "len(1, 2)", "int('x', base=40)", "sorted([1], 2)"):
    try:
        print(call, eval(call))
    except (TypeError, SyntaxError, ValueError) as error:
        print(call, "->", type(error).__name__, str(error).split(" (")[0])


def keep(item, into=[]):
    into.append(item)
    return into


print(keep(1), keep(2), keep.__defaults__, f.__kwdefaults__, f.__code__.co_varnames, f.__code__.co_argcount)


def outer():
    count = 0

    def inner(by=1):
        nonlocal count
        count += by
        return count

    return inner


counter = outer()
print(counter(), counter(5), counter.__closure__[0].cell_contents, outer.__qualname__, counter.__qualname__)
compose = lambda *fs: (lambda x: compose(*fs[:-1])(fs[-1](x))) if fs else (lambda x: x)
print(compose(str, abs, int)("-5"), (lambda a, *b, c=1: (a, b, c))(1, 2, c=3))


def documented(x: int, y: "list[int]" = None) -> str:
    """Says what it does."""
    global made
    made = x
    return str(x)


print(documented(3), made, documented.__doc__, documented.__annotations__, documented.__name__)
