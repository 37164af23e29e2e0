class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k) if isinstance(k, (int, float)) else self.x * k.x + self.y * k.y

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.x * other.y - self.y * other.x

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iter__(self):
        yield self.x
        yield self.y

    def __getitem__(self, index):
        return (self.x, self.y)[index]

    def __len__(self):
        return 2

    def __bool__(self):
        return bool(self.x or self.y)

    def __abs__(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __call__(self, f):
        return Vector(f(self.x), f(self.y))

    def __contains__(self, value):
        return value in tuple(self)

    def __format__(self, spec):
        return f"<{self.x:{spec}}, {self.y:{spec}}>"

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"


a, b = Vector(3, 4), Vector(1, -2)
print(a + b, sum([a, b]), a * 2, 2 * a, a * b, a @ b, -a, abs(a), a == Vector(3, 4), {a: 1}[Vector(3, 4)], [*a], a[1], len(a))
print(bool(Vector(0, 0)), a(lambda n: n * 10), 4 in a, f"{a:.1f} {a}", str(a), a != b)
for code in ("a + 1", "1 + a", "a < b", "a - b", "a.z = 1", "a()", "a['x']", "a[5]", "~a", "a += 'x'"):
    try:
        exec(code)
    except Exception as error:
        print(code, "->", type(error).__name__, str(error).split(" and no __dict__")[0])


class Celsius(float):
    def __new__(cls, value):
        return super().__new__(cls, round(value, 1))

    def __str__(self):
        return f"{float(self)}°C"


print(Celsius(21.456), repr(Celsius(1.25)), Celsius(1) + 1, type(Celsius(1) + 1).__name__)
