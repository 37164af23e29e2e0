import io
import sys
import traceback


def level_three(n):
    return 10 / n


def level_two(n):
    return level_three(n - 1) + 1


def level_one(n):
    try:
        return level_two(n)
    except ZeroDivisionError as error:
        raise RuntimeError("level one failed") from error


try:
    level_one(1)
except RuntimeError:
    text = traceback.format_exc()
print("\n".join(line for line in text.splitlines() if not set(line.strip()) <= set("~^")))
try:
    level_two(1)
except ZeroDivisionError as error:
    for frame in traceback.extract_tb(error.__traceback__):
        print(frame.lineno, frame.name, frame.line)
    print(traceback.extract_tb(error.__traceback__)[-1].name, error.__traceback__.tb_lineno, sys.exc_info()[0].__name__)
buffer = io.StringIO()
try:
    {}["key"]
except KeyError:
    traceback.print_exc(limit=1, file=buffer)
print(buffer.getvalue().splitlines()[-1])
try:
    exec("def broken(:\n    pass")
except SyntaxError as error:
    print(type(error).__name__, error.lineno, error.msg)
    print(traceback.format_exception_only(error)[-1].strip())


def recursive(n):
    return recursive(n + 1)


try:
    recursive(0)
except RecursionError as error:
    print(str(error)[:32])
stack = traceback.extract_stack()
print(stack[-1].line, len(traceback.format_list(stack[-1:])))
print(level_one(5))
