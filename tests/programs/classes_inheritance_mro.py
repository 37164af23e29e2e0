class Base:
    def __init__(self, **kwargs):
        print("Base.__init__", sorted(kwargs))

    def who(self):
        return ["Base"]


class Left(Base):
    def __init__(self, left, **kwargs):
        print("Left.__init__")
        super().__init__(**kwargs)
        self.left = left

    def who(self):
        return ["Left", *super().who()]


class Right(Base):
    def __init__(self, right, **kwargs):
        print("Right.__init__")
        super().__init__(**kwargs)
        self.right = right

    def who(self):
        return ["Right", *super().who()]


class Both(Left, Right):
    def who(self):
        return ["Both", *super().who()]


both = Both(left=1, right=2, extra=3)
print(both.who(), [c.__name__ for c in Both.mro()], vars(both), isinstance(both, Right), super(Left, both).who())
try:
    class Wrong(Base, Left):
        pass
except TypeError as error:
    print(str(error)[:44].replace("\n", " "))


class Plugin:
    registry = {}

    def __init_subclass__(cls, /, name=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.registry[name or cls.__name__.lower()] = cls


class Csv(Plugin): ...


class Excel(Plugin, name="xlsx"): ...


print({k: v.__name__ for k, v in Plugin.registry.items()}, Plugin.__subclasses__()[1].__name__)


class Stack(list):
    push = list.append

    def __missing(self):
        return "mangled"


s = Stack([1])
s.push(2)
print(s, s._Stack__missing(), type(s[0:1]).__name__, isinstance(s, list), hasattr(s, "__missing"))
print(Both.__bases__, Both.__module__, Both.__qualname__, Both.who.__qualname__, both.__class__.__name__, type(type(both)))
