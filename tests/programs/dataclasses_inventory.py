import dataclasses
from dataclasses import KW_ONLY, InitVar, asdict, astuple, dataclass, field, fields, replace


@dataclass(order=True)
class Item:
    name: str = field(compare=False)
    price: float
    count: int = 0
    tags: list[str] = field(default_factory=list, repr=False, compare=False)

    @property
    def total(self):
        return self.price * self.count


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0


@dataclass
class Account:
    owner: str
    _: KW_ONLY
    balance: float = 0.0
    rate: InitVar[float] = 0.05
    yearly: float = field(init=False)

    def __post_init__(self, rate):
        self.yearly = round(self.balance * rate, 2)


items = [Item("pen", 1.5, 10), Item("book", 12.0, 2, ["new"]), Item("cup", 1.5, 3)]
print(sorted(items), items[0].total, asdict(items[1]), astuple(items[2]), max(items).name)
print(items[0] == Item("other", 1.5, 10), replace(items[0], count=1), [f.name for f in fields(Item)])
print(Account("ann", balance=100), Account("bob", balance=10, rate=0.5))
p = Point(1)
print(p, hash(p) == hash(Point(1, 0)), {p: "ok"}[Point(1)], p == (1, 0))
for code in ("p.x = 2", "Item()", "Account('a', 5)", "Item('a', 1) < 3", "Point(1).z"):
    try:
        exec(code)
    except Exception as error:
        print(code, "->", type(error).__name__, error)
try:
    @dataclass
    class Bad:
        values: list = []
except ValueError as error:
    print(str(error)[:48])
Made = dataclasses.make_dataclass("Made", [("a", int), ("b", str, "x")])
print(Made(1), dataclasses.is_dataclass(Made), Made.__match_args__, Point.__slots__)
