for n in range(1, 16):
    print("FizzBuzz" if n % 15 == 0 else "Fizz" if n % 3 == 0 else "Buzz" if n % 5 == 0 else n, end=" ")
print()
for candidate in range(2, 20):
    for divisor in range(2, int(candidate ** 0.5) + 1):
        if candidate % divisor == 0:
            break
    else:
        print(candidate, end=",")
print()
n, steps = 27, 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
else:
    print("collatz", steps)


def find(items, wanted):
    for index, item in enumerate(items):
        if item == wanted:
            return index
        if item is None:
            continue
    return -1


print(find([None, 4, 5], 5), find([], 1))
print(1 < 2 < 3 > 2, not [] and "yes", None or 0 or "last", 5 and 0, 1 if "" else 2, (lambda: 3)())


def final():
    try:
        return "try"
    finally:
        print("finally first")


print(final())
for i in range(3):
    try:
        if i == 1:
            continue
        print("body", i)
    finally:
        print("cleanup", i)
