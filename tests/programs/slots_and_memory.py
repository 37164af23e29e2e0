import sys


class Plain:
    def __init__(self):
        self.a = 1


class Slotted:
    __slots__ = ("a", "__weakref__")

    def __init__(self):
        self.a = 1


class Sub(Slotted):
    pass


print(hasattr(Plain(), "__dict__"), hasattr(Slotted(), "__dict__"), hasattr(Sub(), "__dict__"))
s = Sub()
s.b = 2
print(s.a, s.b, s.__dict__, Slotted.__slots__, sys.getsizeof([0] * 100) > sys.getsizeof([]), sys.getsizeof("é" * 100) < sys.getsizeof("日" * 100))
a = [1, 2]
b = a
c = a[:]
b.append(3)
print(a, c, a is b, a == c, id(a) == id(b))
x, y = 256, 256
print(x is y, "ab" is "a" + "b" if False else True, () is (), sys.intern("word") is sys.intern("wo" + "rd"))


def mutate(items, number, text=""):
    items.append(number)
    number += 1
    items = [0]
    return items, number, text + "!"


base = []
print(mutate(base, 5), base)
t = ([],)
try:
    t[0] += [1]
except TypeError as error:
    print(error, t)
print([[0] * 3] * 2, hash((1, 2)) == hash((1, 2)), {True: "a", 1: "b"}, [] is [], float("nan") in [float("nan")], (nan := float("nan")) in [nan])
