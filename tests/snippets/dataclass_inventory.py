from dataclasses import dataclass, field, asdict, replace
import inspect
import typing

@dataclass(order=True)
class Item:
    """A thing in stock."""
    price: float
    name: str = field(compare=False)
    tags: list[str] = field(default_factory=list, compare=False)

    @property
    def label(self) -> str:
        return f"{self.name} ({self.price:.2f})"

items = [Item(3.5, "tea"), Item(1.25, "salt", ["basic"]), Item(9.0, "oil")]
print(min(items).label, max(items).label)
print(asdict(replace(items[1], price=1.5)))
print(typing.get_type_hints(Item))
print(inspect.getsource(Item).splitlines()[0], "|", inspect.getdoc(Item))
print(inspect.signature(Item))

@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0

try:
    Point(1).x = 2
except Exception as e:
    print(type(e).__name__, e)
print({Point(1, 2): "here"}[Point(1, 2)])
