import itertools


def numbers(limit):
    n = 0
    while n < limit:
        received = yield n
        if received is not None:
            n = received
        n += 1


g = numbers(10)
print(next(g), next(g), g.send(6), next(g), list(g))


def averager():
    total = count = 0
    average = None
    while True:
        try:
            value = yield average
        except ValueError as error:
            print("skipped", error)
            continue
        if value is None:
            return total, count
        total += value
        count += 1
        average = total / count


a = averager()
next(a)
print(a.send(10), a.send(20), a.throw(ValueError("noise")), a.send(60))
try:
    a.send(None)
except StopIteration as stop:
    print("result", stop.value)


def flatten(tree):
    for item in tree:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item
    return "flat"


def wrapper():
    result = yield from flatten([1, [2, [3, 4], []], 5])
    print("inner returned", result)


print(list(wrapper()))


def closing():
    try:
        yield 1
        yield 2
    finally:
        print("closed")


c = closing()
print(next(c))
c.close()
for bad in (lambda: next(iter([])), lambda: numbers(2).send(1), lambda: next(c)):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)


def early():
    raise StopIteration
    yield


try:
    list(early())
except RuntimeError as error:
    print(error, type(error.__cause__).__name__)
lines = ["INFO start", "ERROR disk", "INFO go on", "ERROR net"]
errors = (line.split(None, 1)[1] for line in lines if line.startswith("ERROR"))
print(list(itertools.islice(errors, 5)), c.gi_frame, g.gi_running)
