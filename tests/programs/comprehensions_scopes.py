x = "outer"
print([x for x in range(3)], x)
print({n: [m for m in range(n) if m % 2] for n in range(5) if n > 1})
print([y := 10, y ** 2], y, [last := n for n in range(4)], last)
print(sum(n * n for n in range(10) if n % 3), list((a, b) for a in "ab" for b in (1, 2) if a != "b" or b != 1))
functions = [lambda: i for i in range(3)]
print([f() for f in functions], [f() for f in [lambda i=i: i for i in range(3)]])
print([[row[i] for row in [[1, 2], [3, 4], [5, 6]]] for i in range(2)])
gen = (n for n in [1, 2, 3])
print(next(gen), list(gen), next(gen, "done"), any(n > 2 for n in [1, 2]))


class Config:
    size = 3
    values = [size * 2 for _ in range(1)] if False else [n for n in range(size)]


print(Config.values)
try:
    exec("class Bad:\n    k = 2\n    v = [k for _ in range(2)]\nprint(Bad.v)", {})
except NameError as error:
    print(error)
print({(a, b) for a in range(2) for b in range(2)} == {(0, 0), (0, 1), (1, 0), (1, 1)}, [*range(3)], [c for c in "a b" if c.strip()])
