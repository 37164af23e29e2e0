import contextlib
import io
import os

@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")

with tag("p") as upper:
    print(upper)
with contextlib.suppress(FileNotFoundError):
    os.remove("no such file")
with contextlib.redirect_stdout(io.StringIO()) as out:
    print("hidden")
print(repr(out.getvalue()))
with contextlib.ExitStack() as stack:
    for name in "ab":
        stack.enter_context(tag(name))
    stack.callback(print, "last in, first out")

class Timer:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        print("exit with", kind.__name__ if kind else None)
        return kind is ZeroDivisionError

with Timer():
    1 / 0
with contextlib.chdir("/tmp"):
    print(os.getcwd())
