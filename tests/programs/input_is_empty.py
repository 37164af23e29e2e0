# Standard input has nothing to give.
import sys

print("at start", sys.stdin.read(5) == "")
try:
    name = input("name? ")
    print("got", name)
except EOFError as error:
    print(type(error).__name__, error)
print(list(sys.stdin), sys.stdin.readline() == "")
print("isatty", sys.stdin.isatty(), sys.stdout.isatty())
