from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

class Shape(ABC):
    @property
    @abstractmethod
    def area(self) -> float: ...

    def __repr__(self):
        return f"{type(self).__name__}({self.area:.2f})"

class Square(Shape):
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side ** 2

@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...

class Door:
    def close(self):
        print("closed")

print(Square(3), isinstance(Door(), Closable), isinstance(Square(1), Closable), issubclass(Square, Shape))
try:
    Shape()
except TypeError as e:
    print(e)

class Meta(type):
    registry = {}

    def __new__(mcls, name, bases, namespace):
        cls = super().__new__(mcls, name, bases, namespace)
        mcls.registry[name] = cls
        return cls

class Base(metaclass=Meta): pass
class Child(Base): pass
print(sorted(Meta.registry), [c.__name__ for c in Child.__mro__])
