from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    CRIMSON = 1

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]

    @property
    def pretty(self):
        return self.name.title()


class Planet(Enum):
    EARTH = (5.976e24, 6.37814e6)
    MARS = (6.421e23, 3.3972e6)

    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius

    @property
    def gravity(self):
        return round(6.6743e-11 * self.mass / self.radius ** 2, 2)


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    ALL = R | W | X


class Level(IntEnum):
    LOW = 10
    HIGH = 20


class Mode(StrEnum):
    READ = auto()
    WRITE = "w"


print(list(Color), Color(2), Color["BLUE"], Color.CRIMSON is Color.RED, Color.parse("green").pretty, repr(Color.RED), str(Color.RED), f"{Color.RED}")
print(Color.__members__, len(Color), Color.RED in Color, hash(Color.RED) == hash("RED"), Color.RED == 1)
print([(p.name, p.gravity) for p in Planet], Planet.MARS.value)
print(Perm.R | Perm.W, Perm.ALL & ~Perm.W, Perm.X in Perm.ALL, bool(Perm.R & Perm.X), list(Perm.ALL), Perm(5), repr(Perm(0)))
print(Level.LOW < Level.HIGH, Level.LOW + 1, sorted(Level, reverse=True), f"{Level.LOW}", str(Level.HIGH), Level(20), Mode.READ, repr(Mode.WRITE), Mode.WRITE + "x")
for code in ("Color(9)", "Color['PINK']", "Color.RED.value.nope", "setattr(Color, 'RED', 5)", "Color.RED < Color.BLUE", "Perm(64)"):
    try:
        exec(code)
    except Exception as error:
        print(code, "->", type(error).__name__, str(error).split("\n")[0])
try:
    @unique
    class Twice(Enum):
        A = 1
        B = 1
except ValueError as error:
    print(error)
Animal = Enum("Animal", "CAT DOG")
print(list(Animal), Animal.CAT.value, Animal(2).name)
