import sys

def hanoi(n, source="A", target="C", spare="B"):
    return 0 if n == 0 else hanoi(n - 1, source, spare, target) + 1 + hanoi(n - 1, spare, target, source)

def permutations(text):
    if len(text) <= 1:
        return [text]
    return [c + rest for i, c in enumerate(text) for rest in permutations(text[:i] + text[i + 1:])]

def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)

def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))

print(hanoi(10), permutations("abc"), ackermann(2, 3))
sys.setrecursionlimit(5000)
print(depth(4000))
try:
    depth(10 ** 6)
except RecursionError as e:
    print(type(e).__name__)
board = []
def queens(n, columns=()):
    row = len(columns)
    if row == n:
        return 1
    return sum(queens(n, columns + (c,)) for c in range(n)
               if all(c != cc and abs(c - cc) != row - r for r, cc in enumerate(columns)))
print(queens(6))
