class Meta(type):
    def __prepare__(name, bases, **kwargs):
        print("prepare", name, bases, kwargs)
        return {}

    def __new__(mcls, name, bases, namespace, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace)
        cls.fields = [key for key in namespace if not key.startswith("_")]
        return cls

    def __init__(cls, name, bases, namespace, **kwargs):
        super().__init__(name, bases, namespace)
        print("init", name)

    def __call__(cls, *args, **kwargs):
        print("call", cls.__name__, args)
        return super().__call__(*args, **kwargs)

    def __len__(cls):
        return len(cls.fields)

    def __getattr__(cls, name):
        return f"class attribute {name}"

    def __instancecheck__(cls, instance):
        return hasattr(instance, "quack") or type.__instancecheck__(cls, instance)


Meta.__prepare__ = staticmethod(Meta.__prepare__)


class Model(metaclass=Meta, table="t"):
    x = 1
    y = 2

    def __init__(self, z=0):
        self.z = z


m = Model(5)
print(Model.fields, len(Model), Model.anything, m.z, type(Model).__name__)


class Duck:
    quack = True


print(isinstance(Duck(), Model), isinstance(3, Model), isinstance(m, Model))
Made = type("Made", (Duck,), {"speak": lambda self: "made " + str(self.quack), "__doc__": "By hand."})
print(Made().speak(), Made.__doc__, Made.__name__, Made.__mro__[1].__name__)


class Singleton(type):
    _instances = {}

    def __call__(cls, *args):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args)
        return cls._instances[cls]


class Settings(metaclass=Singleton):
    pass


print(Settings() is Settings())
try:
    class Clash(Model, metaclass=Singleton):
        pass
except TypeError as error:
    print(error)
