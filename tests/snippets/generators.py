def primes():
    found = []
    n = 2
    while True:
        if all(n % p for p in found if p * p <= n):
            found.append(n)
            yield n
        n += 1

def averager():
    total, count, average = 0, 0, None
    while True:
        value = yield average
        if value is None:
            return average
        total, count = total + value, count + 1
        average = total / count

def flatten(items):
    for item in items:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item

stream = primes()
print([next(stream) for _ in range(10)])
running = averager()
next(running)
print(running.send(10), running.send(20))
try:
    running.send(None)
except StopIteration as stop:
    print("returned", stop.value)
print(list(flatten([1, [2, [3, [4]], 5]])), sum(x * x for x in range(5)))

def cleanup():
    try:
        yield 1
    finally:
        print("cleaned up")

g = cleanup()
next(g)
g.close()
