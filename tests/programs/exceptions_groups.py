def run(tasks):
    errors = []
    for task in tasks:
        try:
            task()
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("tasks failed", errors)
    return "fine"


def fail(error):
    def inner():
        raise error
    return inner


print(run([lambda: 1]))
try:
    run([fail(ValueError("v1")), fail(TypeError("t")), fail(ValueError("v2")), fail(OSError(2, "gone"))])
except* ValueError as group:
    print("values", [str(e) for e in group.exceptions])
except* (TypeError, KeyError) as group:
    print("types", group.exceptions, group.message)
except* OSError as group:
    print("os", group.exceptions[0].errno)
nested = ExceptionGroup("outer", [ValueError(1), ExceptionGroup("inner", [KeyError("k"), ValueError(2)])])
match, rest = nested.split(ValueError)
print(repr(match), "|", repr(rest), "|", nested.subgroup(KeyError))
print(str(nested), len(nested.exceptions), nested.derive([ValueError(3)]))
error = ValueError("with notes")
error.add_note("first note")
error.add_note("second note")
print(error.__notes__)
try:
    ExceptionGroup("empty", [])
except ValueError as e:
    print(e)
try:
    try:
        raise ExceptionGroup("g", [ValueError("left"), KeyError("other")])
    except* ValueError:
        pass
except ExceptionGroup as left:
    print(left, left.exceptions)
