import asyncio
from contextlib import asynccontextmanager


async def ticker(n):
    try:
        for i in range(n):
            yield i
            await asyncio.sleep(0)
    finally:
        print("ticker closed")


class Countdown:
    def __init__(self, n):
        self.n = n

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


@asynccontextmanager
async def resource(name):
    print("open", name)
    yield name
    print("close", name)


async def main():
    print([i async for i in ticker(3)], {i: i async for i in Countdown(2)})
    async for i in ticker(5):
        if i == 1:
            break
    async with resource("a") as a, resource("b"):
        print(a)
    print(await asyncio.to_thread(sum, [1, 2, 3]))
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(future.set_result, 42)
    print(await future, loop.time() > 0)
    done, pending = await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0, n)) for n in range(2)])
    print(sorted(t.result() for t in done), pending)
    for coroutine in asyncio.as_completed([asyncio.sleep(0.02, "b"), asyncio.sleep(0.01, "a")]):
        print(await coroutine)


asyncio.run(main())
