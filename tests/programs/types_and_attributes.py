import types

Namespace = types.SimpleNamespace
point = Namespace(x=1, y=2)
point.z = 3
print(point, point == Namespace(x=1, y=2, z=3), vars(point))
read_only = types.MappingProxyType({"a": 1})
try:
    read_only["b"] = 2
except TypeError as error:
    print(error)


class Dynamic:
    def __getattribute__(self, name):
        if name == "magic":
            return "always"
        return super().__getattribute__(name)

    def __dir__(self):
        return ["b", "a"]

    def __delattr__(self, name):
        print("delattr", name)
        super().__delattr__(name)


d = Dynamic()
d.plain = 1
d.method = types.MethodType(lambda self, n: (type(self).__name__, n), d)
print(d.magic, d.plain, d.method(5), dir(d))
del d.plain
try:
    d.plain
except AttributeError as error:
    print(error, error.name, error.obj is d)
setattr(Dynamic, "added", property(lambda self: "added later"))
print(d.added, hasattr(Dynamic, "added"), Dynamic.__dict__["added"].__class__.__name__)
module = types.ModuleType("made", "A module.")
exec("value = 5\ndef f(): return value * 2", module.__dict__)
print(module.f(), module.__name__, module.__doc__, module)
f = types.FunctionType(module.f.__code__, {"value": 50})
print(f(), isinstance(f, types.FunctionType), types.GenericAlias(list, (int,)), type(None) is types.NoneType, types.new_class("New", (dict,), {}, lambda ns: ns.update(q=1)).q)


class Slots:
    __slots__ = ("a", "b")


s = Slots()
s.a = 1
for code in ("s.c = 1", "s.b", "s.__dict__"):
    try:
        exec(code)
    except AttributeError as error:
        print(code, "->", str(error).split(" and")[0])
print(object.__getattribute__(d, "__class__").__name__, callable(d), [].__class__.__mro__[-1].__name__, Slots.a.__class__.__name__)
