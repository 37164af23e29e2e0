# O08: a result that is huge, raises, is no text, or has a name of its own
# expect: ok
class R:
    def __repr__(self):
        return "r" * (100 << 20)
R()
# --- turn ---
# expect: ok | error
class R:
    def __repr__(self):
        raise SystemExit(9)
R()
# --- turn ---
# expect: ok
class M(type):
    __name__ = property(lambda self: 1 / 0)
class R(metaclass=M):
    def __repr__(self):
        return 7
R()
# --- turn ---
# expect: ok
class R:
    def __getattr__(self, name):
        return lambda *a, **k: "h" * (30 << 20)
    def _repr_mimebundle_(self, **k):
        return {"a/" + str(i): "x" * 500_000 for i in range(1000)}
R()
# --- turn ---
# expect: ok
class D(dict):
    def items(self):
        while True:
            yield "text/html", "x" * 1_000_000
class R:
    def _repr_mimebundle_(self, **k):
        return D()
    def _repr_html_(self):
        return "<script>" + "h" * (50 << 20)
    def _repr_png_(self):
        return bytes(50 << 20)
R()
