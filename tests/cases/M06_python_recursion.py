# M06: plain recursion is a RecursionError
# expect: ok
# prints: HELD: RecursionError
def f(n):
    return f(n + 1)
try:
    f(0)
except RecursionError:
    print("HELD: RecursionError")
