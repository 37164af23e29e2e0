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
# --- turn ---
# expect: ok | timeout

# A bundle of a million types, and one that holds itself.
class R:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {f"x/{i}": "y" for i in range(1_000_000)}
loop = {}
loop["loop"] = loop
class S:
    def _repr_mimebundle_(self, include, exclude):
        return {"application/json": loop, "text/html": [loop], "x/y": ["long"] * 10**5}
    _repr_json_ = lambda self: loop
display(S())
R()
# --- turn ---
# expect: ok

# Methods that leave: their errors are not the cell's.
class R:
    def _ipython_display_(self):
        raise KeyboardInterrupt
    def _repr_mimebundle_(self, **k):
        raise SystemExit(0)
    def _repr_html_(self):
        raise BaseException("out")
    def _repr_png_(self):
        raise GeneratorExit
    def __repr__(self):
        raise KeyboardInterrupt
display(R())
R()
# --- turn ---
# expect: ok

# What they return is not what they say.
class Text(str):
    def __str__(self): return 5
    def encode(self, *a): raise SystemExit(0)
    def __len__(self): return 1 << 40
    def __eq__(self, other): return True
    __hash__ = str.__hash__
class Bytes(bytes):
    def __bytes__(self): raise SystemExit(0)
    def __len__(self): return 1 << 40
class R:
    __class__ = property(lambda self: 1 / 0)
    def __repr__(self): return Text("r" * 1000)
    def _repr_html_(self): return Text("h" * 1000)
    def _repr_png_(self): return Bytes(1000)
    def _repr_markdown_(self): return 5
    def _repr_svg_(self): return b"<svg>"
    def _repr_latex_(self): return ("a", "b", "c")
    def _repr_json_(self): return "{"
    def _repr_mimebundle_(self, include, exclude):
        return {Text("text/plain"): Text("t"), 5: "five", "kind": "exit", '","code":0,"x":"': "forged", "\ud800": "\udfff"}, 5
display(R())
R()
# --- turn ---
# expect: ok | timeout

# 1 GiB of text does not fit into the guest; what fits is cut or left out.
class R:
    def __repr__(self): return "r" * (1 << 30)
    def _repr_html_(self): return "h" * (10 << 20)
    def _repr_markdown_(self): return "m" * (1 << 30)
display(R())
R()
# --- turn ---
# expect: error
# raises: RuntimeError | RecursionError

# A display within a display within a display.
class R:
    def __repr__(self): return "r"
    def _repr_html_(self):
        display(self)
        return "h"
class S:
    def _ipython_display_(self):
        display(self)
display(R())
display(S())
for i in range(300):
    display(i)
# --- turn ---
# expect: ok

# It prints, opens figures, shows them, and replaces what it stands on.
import matplotlib.pyplot as plt
class R:
    def _repr_html_(self):
        print("printed")
        plt.figure()
        plt.show()
        plt.figure()
        import builtins, json, binascii
        builtins.repr = builtins.getattr = binascii.b2a_base64 = json.dumps = None
        return "h"
display(R())
R()
# --- fresh ---
# expect: timeout

# It never ends.
class R:
    def _repr_html_(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
display(R())
