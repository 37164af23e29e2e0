import contextlib
import io
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout, suppress


class Resource:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("open", self.name)
        return self

    def __exit__(self, kind, value, traceback):
        print("close", self.name, kind and kind.__name__, value, traceback is not None)
        return self.swallow

    def close(self):
        print("closed by closing", self.name)


with Resource("a") as a, Resource("b"):
    print("inside", a.name)
with Resource("c", swallow=True):
    1 / 0
try:
    with (Resource("d"), Resource("e")):
        raise KeyError("k")
except KeyError as error:
    print("caught", error)


@contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    except ValueError as error:
        print("handled", error)
    finally:
        print(f"</{name}>")


with tag("p") as t:
    print(t)
    raise ValueError("inside p")


@tag("deco")
def decorated():
    print("decorated body")


decorated()
with suppress(FileNotFoundError, KeyError):
    {}["x"]
buffer = io.StringIO()
with redirect_stdout(buffer):
    print("captured")
print(repr(buffer.getvalue()))
with ExitStack() as stack:
    for name in "xyz":
        stack.enter_context(Resource(name))
    stack.callback(print, "callback", sep="-")
    stack.push(lambda *details: True)
    raise RuntimeError("unwound")
with closing(Resource("z")), nullcontext(5) as five:
    print(five)
try:
    with 5:
        pass
except TypeError as error:
    print(str(error)[:40])


@contextmanager
def never():
    return
    yield


try:
    with never():
        pass
except RuntimeError as error:
    print(error)
