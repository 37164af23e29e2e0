from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Protocol


class Discount(Protocol):
    def apply(self, amount: float) -> float: ...


@dataclass(frozen=True)
class Percent:
    rate: float

    def apply(self, amount: float) -> float:
        return amount * (1 - self.rate)


@dataclass(frozen=True)
class Flat:
    off: float

    def apply(self, amount: float) -> float:
        return max(0.0, amount - self.off)


@dataclass
class Line:
    name: str
    price: float
    count: int = 1

    @property
    def total(self) -> float:
        return self.price * self.count


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)
    discounts: list[Discount] = field(default_factory=list)

    @singledispatchmethod
    def add(self, thing):
        raise TypeError(f"cannot add {type(thing).__name__}")

    @add.register
    def _(self, thing: Line):
        self.lines.append(thing)
        return self

    @add.register(tuple)
    def _(self, thing):
        return self.add(Line(*thing))

    @add.register(str)
    def _(self, thing):
        return self.add(Line(thing, 1.0))

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self):
        return sum(line.count for line in self)

    @property
    def total(self) -> float:
        amount = sum(line.total for line in self)
        for discount in self.discounts:
            amount = discount.apply(amount)
        return round(amount, 2)


class Receipt(ABC):
    def __init__(self, cart):
        self.cart = cart

    def render(self):
        return "\n".join([self.head(), *map(self.line, self.cart), self.foot()])

    def head(self):
        return "=" * 20

    @abstractmethod
    def line(self, line): ...

    def foot(self):
        return f"{'TOTAL':<12}{self.cart.total:>8.2f}"


class Plain(Receipt):
    def line(self, line):
        return f"{line.count}x {line.name:<9}{line.total:>8.2f}"


cart = Cart(discounts=[Percent(0.1), Flat(1)]).add(("pen", 1.5, 4)).add(Line("book", 20)).add("gum")
print(Plain(cart).render(), len(cart), cart, sep="\n")
for bad in (lambda: cart.add(5), lambda: Receipt(cart), lambda: setattr(Percent(0.1), "rate", 1)):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, str(error).split(" without")[0].split(" with ")[0])
print(Cart.__annotations__["lines"], Cart.total.fget.__annotations__)
