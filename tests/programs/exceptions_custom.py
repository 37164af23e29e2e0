import traceback


class AppError(Exception):
    code = 1

    def __init__(self, message, *, detail=None):
        super().__init__(message)
        self.detail = detail


class NotFound(AppError):
    code = 404

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


def lookup(key):
    try:
        return {"a": 1}[key]
    except KeyError as error:
        raise NotFound(f"no {key}", detail=[key]) from error


try:
    lookup("z")
except AppError as error:
    print(type(error).__name__, error, error.detail, repr(error), error.code)
    print(repr(error.__cause__), error.__context__ is error.__cause__, error.__suppress_context__)
    print("".join(traceback.format_exception_only(error)).strip())


def chained():
    try:
        1 / 0
    except ZeroDivisionError:
        try:
            int("x")
        except ValueError as second:
            return second


second = chained()
print(second, "| during", second.__context__, second.__cause__)


def order():
    try:
        print("try")
        raise ValueError("v")
    except (KeyError, TypeError):
        print("wrong")
    except ValueError as error:
        print("except", error.args)
    else:
        print("else")
    finally:
        print("finally")
    return "done"


print(order())
for code in ("raise 5", "raise ValueError from 5", "assert 1 == 2, 'message'", "assert []", "raise", "raise NotFound", "raise NotFound('x') from None", "[][0]", "{}['missing']", "int('3.5')", "None.x", "undefined", "import nonexistent_module", "float('abc')", "'x' + 1", "len(5)", "next(iter([]))", "(1, 2)[0] = 3", "abs('x')", "chr(-1)", "ord('ab')", "bytes([300])", "2 ** 'x'", "int('')", "f'{1:z}'.nope"):
    try:
        exec(code)
    except BaseException as error:
        print(f"{code:34} {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
