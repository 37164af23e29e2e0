x = "global"


def outer():
    x = "outer"

    def inner():
        nonlocal x
        x = "changed"
        return x

    def reader():
        global x
        return x

    return inner(), x, reader()


print(outer(), x)


class Scope:
    x = "class"
    y = x + " body"

    def method(self):
        return x, self.x


print(Scope().method(), Scope.y)
exec("z = x + '!'")
print(z, eval("x.upper()"), "z" in globals(), vars(Scope)["y"])


def locals_here(a, b=2):
    c = a + b
    return sorted(locals().items())


print(locals_here(1))
del z
try:
    z
except NameError as error:
    print(error, error.name)


def shadow():
    list = [1]
    return list


print(shadow(), list("ab"))
for i in range(3):
    pass
print(i, [i for i in "ab"], i)
try:
    def f():
        del q
    f()
except NameError as error:
    print(type(error).__name__, error)
print((lambda x=x: x)(), [lambda: x][0](), (lambda: (yield))().__class__.__name__)
with open("tmp", "w") as handle:
    inside = 5
print(inside, handle.closed)
try:
    raise ValueError("gone after")
except ValueError as gone:
    pass
print("gone" in globals())
if (n := len("walrus")) > 3:
    print(n)
namespace = {}
exec("def made(): return shared\nshared = 9", namespace)
print(namespace["made"](), sorted(k for k in namespace if not k.startswith("__")))
