# Exceptions that are not errors, and handlers on the way.
import sys


class Cleanup:
    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        print("leaving because of", kind.__name__ if kind else None)


for raiser in (KeyboardInterrupt, SystemExit, GeneratorExit):
    try:
        try:
            with Cleanup():
                raise raiser(3)
        except Exception:
            print("never: not an Exception")
    except BaseException as error:
        print(type(error).__name__, error.args, isinstance(error, Exception))
try:
    sys.exit("words")
except SystemExit as stop:
    print(repr(stop.code))
try:
    exit(4)
except SystemExit as stop:
    print(stop.code)
sys.excepthook = lambda kind, value, traceback: print("hook:", kind.__name__, value)
print("ends well")
