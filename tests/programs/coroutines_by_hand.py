# Coroutines without an event loop: driven with send().
import inspect


class Suspend:
    def __await__(self):
        value = yield "suspended"
        return value


async def child(n):
    got = await Suspend()
    return got * n


async def parent():
    total = 0
    for n in (1, 2):
        total += await child(n)
    return total


coroutine = parent()
print(inspect.iscoroutine(coroutine), coroutine.cr_running, inspect.getcoroutinestate(coroutine))
print(coroutine.send(None), coroutine.send(10))
try:
    coroutine.send(100)
except StopIteration as stop:
    print("result", stop.value)
try:
    coroutine.send(None)
except RuntimeError as error:
    print(error)


class Loop:
    def __init__(self):
        self.ready, self.log = [], []

    def run(self, *coroutines):
        self.ready = list(coroutines)
        while self.ready:
            current = self.ready.pop(0)
            try:
                current.send(None)
                self.ready.append(current)
            except StopIteration:
                self.log.append(current.__name__)


class Pause:
    def __await__(self):
        yield


async def count(name, n):
    for i in range(n):
        print(name, i)
        await Pause()


loop = Loop()
loop.run(count("a", 2), count("b", 3))
print(loop.log)


async def agen():
    yield 1
    await Pause()
    yield 2


g = agen()
print(type(g).__name__, inspect.isasyncgen(g))
try:
    g.__anext__().send(None)
except StopIteration as stop:
    print("yielded", stop.value)
