# T32: generators, iterators and comprehensions that never end
# expect: timeout
def naturals():
    n = 0
    while True:
        try:
            yield n
        finally:
            n += 1
sum(1 for _ in zip(naturals(), iter(int, 1)))
print("FAIL: finished")
