import inspect


def sample(a, b: int = 2, /, c=3, *rest, d, e: str = "x", **more) -> bool:
    """Documented.

    With detail.
    """
    return True


class Base:
    attribute = 1

    def method(self, x):
        return x

    @staticmethod
    def fixed(): ...

    @classmethod
    def made(cls): ...

    @property
    def prop(self): ...


signature = inspect.signature(sample)
print(signature, [(p.name, p.kind.name, p.default is p.empty) for p in signature.parameters.values()])
bound = signature.bind(1, 2, 3, 4, d=5, z=6)
bound.apply_defaults()
print(bound.arguments, bound.args, bound.kwargs, signature.return_annotation)
print(inspect.getdoc(sample), inspect.getsource(sample).splitlines()[0], inspect.getsourcelines(Base.method)[1], inspect.cleandoc("  a\n    b\n  c"))
print(inspect.isfunction(sample), inspect.isclass(Base), inspect.ismethod(Base().method), inspect.isgeneratorfunction(lambda: (yield)), inspect.iscoroutinefunction(sample), inspect.isbuiltin(len))
print([name for name, _ in inspect.getmembers(Base, inspect.isfunction)], [(a.name, a.kind) for a in inspect.classify_class_attrs(Base) if not a.name.startswith("__")], inspect.getmro(bool))
print(inspect.signature(Base().method), inspect.signature(Base), inspect.signature(lambda *, k=None: k), inspect.getmodule(sample).__name__, inspect.getattr_static(Base, "fixed").__class__.__name__)


def caller():
    frame = inspect.currentframe()
    return frame.f_code.co_name, frame.f_back.f_code.co_name, inspect.stack()[0].function, frame.f_lineno - frame.f_code.co_firstlineno


print(caller(), inspect.getclosurevars(caller).globals.keys(), inspect.unwrap(sample) is sample)
try:
    signature.bind(1)
except TypeError as error:
    print(error)
