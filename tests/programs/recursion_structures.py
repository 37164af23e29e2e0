import sys


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


def hanoi(n, a="A", b="B", c="C"):
    return [] if n == 0 else hanoi(n - 1, a, c, b) + [(a, c)] + hanoi(n - 1, b, a, c)


def permutations(items):
    if len(items) <= 1:
        yield items
    for i in range(len(items)):
        for rest in permutations(items[:i] + items[i + 1:]):
            yield [items[i]] + rest


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child:
            child.insert(value)
        else:
            setattr(self, side, Tree(value))
        return self

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right

    def height(self):
        return 1 + max((t.height() for t in (self.left, self.right) if t), default=0)


tree = Tree(50)
for value in (30, 70, 20, 40, 60, 80, 10, 45):
    tree.insert(value)
print(list(tree), tree.height(), ackermann(2, 3), hanoi(3), len(hanoi(8)), len(list(permutations([1, 2, 3, 4]))))
print(depth(900), sys.getrecursionlimit())
sys.setrecursionlimit(3000)
print(depth(2500))
try:
    depth(100_000)
except RecursionError as error:
    print(type(error).__name__, str(error))
try:
    sys.setrecursionlimit(0)
except ValueError as error:
    print(error)
even = lambda n: n == 0 or odd(n - 1)
odd = lambda n: n != 0 and even(n - 1)
print(even(100), odd(7))
