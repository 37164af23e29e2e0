from abc import ABC, abstractmethod
import math


class Shape(ABC):
    count = 0

    def __init__(self, name):
        self.name = name
        Shape.count += 1

    @abstractmethod
    def area(self): ...

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, area={self.area():.2f})"

    def __lt__(self, other):
        return self.area() < other.area()


class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2


class Square(Shape):
    def __init__(self, side):
        super().__init__("square")
        self._side = side

    @property
    def side(self):
        return self._side

    @side.setter
    def side(self, value):
        if value < 0:
            raise ValueError("negative side")
        self._side = value

    def area(self):
        return self._side ** 2

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def is_shape(thing):
        return isinstance(thing, Shape)


shapes = [Circle(1), Square(3), Square.unit(), Circle(0.5)]
print(sorted(shapes), Shape.count, Square.is_shape(shapes[0]), max(shapes))
try:
    Shape("x")
except TypeError as error:
    print(str(error)[:40])
square = shapes[1]
square.side = 4
print(square.side, square)
for code in ("square.side = -1", "square.nope", "Square.unit().side()", "del square.side", "Circle()", "Square.nope"):
    try:
        exec(code)
    except Exception as error:
        print(code, "->", type(error).__name__, str(error).replace("property 'side'", "property"))
print([cls.__name__ for cls in Circle.__mro__], issubclass(Circle, Shape), Circle.__subclasses__(), Shape.__abstractmethods__)
