from enum import Enum, Flag, IntEnum, StrEnum, auto, unique

@unique
class Color(Enum):
    RED = 1
    GREEN = 2

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]

class Permission(Flag):
    READ = auto()
    WRITE = auto()
    ALL = READ | WRITE

class Level(IntEnum):
    LOW = 1
    HIGH = 10

class Kind(StrEnum):
    FILE = auto()

print(Color.RED, repr(Color.parse("green")), Color(2).name, list(Color))
print(Permission.READ | Permission.WRITE, Permission.READ in Permission.ALL, Level.HIGH > 5, f"{Kind.FILE}")
try:
    Color(7)
except ValueError as e:
    print(e)
