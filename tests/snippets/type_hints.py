from collections.abc import Callable, Iterable
from typing import Annotated, Any, Generic, Literal, NamedTuple, Self, TypedDict, TypeVar, cast, get_args, get_type_hints, overload

T = TypeVar("T")

class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> Self:
        self.items.append(item)
        return self

def first[K, V](mapping: dict[K, V], default: V | None = None) -> V | None:
    return next(iter(mapping.values()), default)

type Pair = tuple[int, int]

class Movie(TypedDict, total=False):
    title: str
    year: int

class Employee(NamedTuple):
    name: str
    id: int = 3

def apply(function: Callable[[int], str], values: Iterable[int], mode: Literal["a", "b"] = "a") -> list[str]:
    return [function(v) for v in values]

print(Stack[int]().push(1).push(2).items, first({"a": 1}), first({}, 5))
print(get_type_hints(apply)["mode"], get_args(Literal["a", "b"]), Pair.__value__)
print(Movie(title="X", year=1999), Employee("Bo"), Employee.__annotations__)
print(apply(str, [1, 2]), get_type_hints(first)["default"] is not None, cast(int, "x"))
