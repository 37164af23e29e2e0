class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __iter__(self):
        return iter((self.x, self.y))

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"

class Account:
    interest = 0.02

    def __init__(self, owner, balance=0):
        self.owner, self._balance = owner, balance

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < 0:
            raise ValueError("insufficient funds")
        self._balance = value

    @classmethod
    def parse(cls, text):
        owner, balance = text.split(":")
        return cls(owner, int(balance))

    @staticmethod
    def valid(owner):
        return owner.isalpha()

class Savings(Account):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.history = []

    def __getattr__(self, name):
        return f"no {name}"

print(2 * (Vector(1, 2) + Vector(3, 4)), tuple(Vector(5, 6)), Vector(1, 1) in {Vector(1, 1)})
account = Savings.parse("ann:50")
account.balance -= 20
print(account.balance, account.missing, Account.valid("a1"), Savings.__mro__[1].__name__)
try:
    account.balance = -5
except ValueError as e:
    print(e)
print(sorted(vars(account)), isinstance(account, Account), hasattr(Vector, "__dict__"))
