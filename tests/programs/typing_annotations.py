import typing
from typing import Annotated, Any, Callable, ClassVar, Final, Generic, Literal, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints, overload, runtime_checkable

T = TypeVar("T", bound=int)


class Stack(Generic[T]):
    limit: ClassVar[int] = 3

    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


print(Stack[int]().push(1).items, Stack[int], Stack.__parameters__, get_origin(Stack[int]) is Stack, get_args(dict[str, list[int]]), T.__bound__)
print(Callable[[int], str], Literal["a", 1], list[int] | None == Optional[list[int]], get_args(Annotated[int, "meta"]), Any, typing.List[int], tuple[int, ...], type[int])


def f(a: int, b: "str" = "x", *args: float, c: Optional[int] = None, **kw: Any) -> list["int"]:
    x: int = 1
    return [x]


print(get_type_hints(f)["b"], get_type_hints(f)["return"] == list[int], f.__annotations__["b"], list(f.__annotations__))


class Movie(TypedDict, total=False):
    name: str
    year: int


class Row(NamedTuple):
    id: int
    label: str = "none"

    def shout(self):
        return self.label.upper()


@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...


print(Movie(name="x"), Movie.__annotations__.keys(), sorted(Movie.__optional_keys__), Row(1), Row(2, "b").shout(), Row.__annotations__ if False else Row._fields)
print(isinstance(open("f", "w"), Closable), isinstance(3, Closable), typing.cast(int, "x"), typing.NewType("Id", int)(5), typing.TYPE_CHECKING)
for bad in ("isinstance([], list[int])", "Stack[str, int]", "Closable()", "Union[int, str]()", "list[int]('ab').append", "Literal[1](2)", "Any()" if False else "Generic()"):
    try:
        print(bad, eval(bad) and "made")
    except TypeError as error:
        print(bad, "->", type(error).__name__)
