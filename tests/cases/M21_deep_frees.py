# M21: structures a million deep, freed at once
# expect: ok | memory | crashed | timeout
import functools; print = functools.partial(print, flush=True)
class Node:
    def __init__(self, next):
        self.next = next
makes = {"tuple": lambda x: (x,), "list": lambda x: [x], "dict": lambda x: {0: x}, "object": Node, "bound": lambda x: functools.partial(print, x), "closure": lambda x: (lambda: x)}
for name, make in makes.items():
    x = None
    for _ in range(400_000):
        x = make(x)
    del x
    print("HELD:", name)
