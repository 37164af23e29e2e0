import copy
import pickle
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass
class Node:
    value: int
    children: list


class Guarded:
    def __init__(self, a):
        self.a, self.handle = a, open("x.txt", "w")

    def __getstate__(self):
        return {"a": self.a}

    def __setstate__(self, state):
        self.__dict__.update(state, handle=None)


class Pair:
    def __init__(self, l, r):
        self.l, self.r = l, r

    def __reduce__(self):
        return Pair, (self.r, self.l)


node = Node(1, [Node(2, []), Node(3, [])])
for protocol in (0, 2, 4, 5):
    data = pickle.dumps(node, protocol)
    print(protocol, pickle.loads(data) == node, pickle.loads(data) is node)
print(pickle.dumps([1, "a", None, (2.5, True)], 4), pickle.dumps({"k": b"v"}, 0))
values = [datetime(2024, 1, 1), Decimal("1.5"), {1, 2}, 1j, range(3), b"x", slice(1, 2), frozenset("a"), ..., len, Node, 10 ** 30, float("inf")]
print(pickle.loads(pickle.dumps(values)) == values, pickle.loads(pickle.dumps(Guarded(5))).a, vars(pickle.loads(pickle.dumps(Pair(1, 2)))))
shared = []
both = pickle.loads(pickle.dumps((shared, shared)))
print(both[0] is both[1])
shallow, deep = copy.copy(node), copy.deepcopy(node)
node.children[0].value = 99
print(shallow.children[0].value, deep.children[0].value, copy.copy([1]) is not None, copy.deepcopy(both)[0] is not both[0])
loop = [1]
loop.append(loop)
print(copy.deepcopy(loop)[1][1][0], pickle.loads(pickle.dumps(loop))[1][0])
for bad in (lambda: pickle.dumps(lambda: 1), lambda: pickle.dumps(open("x.txt")), lambda: pickle.loads(b"junk"), lambda: pickle.loads(b""), lambda: pickle.dumps((n for n in [])), lambda: pickle.loads(pickle.dumps(node)[:20])):
    try:
        bad()
    except Exception as error:
        print(isinstance(error, (pickle.PickleError, AttributeError, TypeError, EOFError)))
