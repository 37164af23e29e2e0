import traceback

class AppError(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code

def load(text):
    try:
        return int(text)
    except ValueError as e:
        raise AppError(f"bad number: {text!r}", code=7) from e

try:
    load("x1")
except AppError as e:
    print(e, e.code, type(e.__cause__).__name__)
    print(traceback.format_exc().splitlines()[-1])

def tidy():
    try:
        return "from try"
    except Exception:
        return "never"
    else:
        return "never"
    finally:
        print("finally runs")

print(tidy())
try:
    raise ExceptionGroup("several", [ValueError("a"), TypeError("b"), KeyError("c")])
except* (ValueError, TypeError) as group:
    print("caught", [str(e) for e in group.exceptions])
except* KeyError as group:
    print("keys", len(group.exceptions))
error = ValueError("base")
error.add_note("a note")
print(error.__notes__, isinstance(error, Exception))
for bad in ("[1][5]", "{}['k']", "None.x", "'a' + 1", "undefined", "int('q')"):
    try:
        eval(bad)
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
assert_message = ""
try:
    assert 1 == 2, "numbers differ"
except AssertionError as e:
    print("assertion:", e)
