from dataclasses import dataclass
from enum import Enum


class Op(Enum):
    ADD = "+"
    SUB = "-"


@dataclass
class Num:
    value: float


@dataclass
class Bin:
    op: Op
    left: object
    right: object


def evaluate(node):
    match node:
        case Num(value=v):
            return v
        case Bin(Op.ADD, Num(0), right) | Bin(Op.ADD, right, Num(0)):
            return evaluate(right)
        case Bin(Op.ADD, left, right):
            return evaluate(left) + evaluate(right)
        case Bin(op=Op.SUB, left=l, right=r):
            return evaluate(l) - evaluate(r)
        case _:
            raise TypeError(f"cannot evaluate {node!r}")


print(evaluate(Bin(Op.ADD, Num(0), Bin(Op.SUB, Num(5), Num(2)))))
try:
    evaluate("x")
except TypeError as error:
    print(error)


def describe(value):
    match value:
        case None | True | False:
            return f"singleton {value}"
        case int(n) if n < 0:
            return f"negative {n}"
        case int() | float():
            return "number"
        case "yes" | "y":
            return "agreement"
        case str(s):
            return f"text of {len(s)}"
        case []:
            return "empty"
        case [x]:
            return f"one {x!r}"
        case [first, *rest] if len(rest) > 2:
            return f"long list from {first}, {rest}"
        case (a, b, *_):
            return f"starts {a},{b}"
        case {"type": "circle", "r": r, **others}:
            return f"circle {r} {others}"
        case {}:
            return "mapping"
        case set():
            return "set"
    return "unknown"


for value in (None, True, -3, 2.5, "yes", "word", [], [7], (1, 2, 3, 4), (1, 2), {"type": "circle", "r": 2, "fill": 1}, {"a": 1}, {1}, object, b"ab", range(2)):
    print(describe(value))
match "go north".split():
    case ["go", ("north" | "south") as direction]:
        print("heading", direction)
match {"items": [{"id": 1}, {"id": 2}]}:
    case {"items": [{"id": first_id}, *_]}:
        print(first_id)
