import atexit
import sys

atexit.register(print, "first registered, last run")
atexit.register(print, "last registered, first run")


def main(argv):
    if len(argv) < 2:
        print("usage: tool FILE")
        return "tool: no file given"
    return 0


try:
    sys.exit(main(sys.argv[:1]))
finally:
    print("finally runs on the way out")
