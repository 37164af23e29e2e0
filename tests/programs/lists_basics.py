numbers = [5, 3, 8, 1, 9, 2]
numbers.append(7)
numbers.insert(0, 0)
numbers.extend([4, 6])
print(numbers, len(numbers), sum(numbers), min(numbers), max(numbers), numbers.index(8), numbers.count(5))
print(sorted(numbers), sorted(numbers, reverse=True), list(reversed(numbers)), numbers[2:5], numbers[::-2])
numbers[1:3] = [10, 11, 12]
del numbers[::3]
print(numbers, numbers.pop(), numbers.pop(0), numbers)
numbers.remove(10)
numbers.sort(key=lambda n: (n % 3, -n))
print(numbers)
matrix = [[1, 2, 3], [4, 5, 6]]
print([list(column) for column in zip(*matrix)], [n for row in matrix for n in row if n % 2], [[0] * 2 for _ in range(2)])
a, *b, c = range(6)
print(a, b, c, [*b, *"xy"], (*b,), {*b, 1})
print([1, 2] < [1, 2, 0], [1, 2] == [1, 2.0], [] or "empty", [[]] * 2, 3 in [1, 2, 3])
for bad in ("[].pop()", "[1][5]", "[1].remove(2)", "[1, 2].index(3)", "[3, 'a'].sort()", "a, b = [1]", "a, b = [1, 2, 3]", "[1] + (2,)", "[1]['x']", "[0] * 'a'"):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, error)
print(list(map(lambda pair: pair[0] * pair[1], enumerate("abc"))), list(zip("ab", [1, 2, 3])), any([]), all([]))
try:
    print(list(zip("ab", [1], strict=True)))
except ValueError as error:
    print(error)
