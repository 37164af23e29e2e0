class Typed:
    def __set_name__(self, owner, name):
        self.name = name
        print("set_name", owner.__name__, name)

    def __init__(self, kind, default=None):
        self.kind, self.default = kind, default

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance.__dict__.get(self.name, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} must be {self.kind.__name__}, not {type(value).__name__}")
        instance.__dict__[self.name] = value

    def __delete__(self, instance):
        print("delete", self.name)
        instance.__dict__.pop(self.name, None)


class Person:
    name = Typed(str)
    age = Typed(int, 0)

    def __init__(self, name):
        self.name = name


p = Person("Ann")
print(p.name, p.age, type(Person.name).__name__)
p.age = 3
try:
    p.age = "three"
except TypeError as error:
    print(error)
del p.age
print(p.age, vars(p))


class Lazy:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner=None):
        print("computing", self.function.__name__)
        value = instance.__dict__[self.function.__name__] = self.function(instance)
        return value


class Data:
    @Lazy
    def total(self):
        return sum(range(10))

    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: name[4:]
        raise AttributeError(f"no {name}")

    def __setattr__(self, name, value):
        print("setattr", name, value)
        super().__setattr__(name, value)


d = Data()
print(d.total, d.total, d.get_x(), getattr(d, "nope", "default"), hasattr(d, "other"))
d.y = 5
print(d.__dict__, Data.total if False else "", Person.__init__.__get__(p, Person).__func__ is Person.__init__)
print(property(lambda self: 1).fget(None), [name for name in dir(p) if not name.startswith("__")])
