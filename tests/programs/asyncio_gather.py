import asyncio


async def fetch(name, delay):
    print("start", name)
    await asyncio.sleep(delay)
    print("end", name)
    return name.upper()


async def main():
    results = await asyncio.gather(fetch("slow", 0.03), fetch("fast", 0.01), fetch("mid", 0.02))
    print(results)
    try:
        await asyncio.wait_for(fetch("late", 1), timeout=0.01)
    except asyncio.TimeoutError:
        print("timed out")
    async with asyncio.timeout(1):
        print(await fetch("ok", 0))
    failed = await asyncio.gather(fetch("x", 0), asyncio.sleep(0, 5), fail(), return_exceptions=True)
    print(failed)


async def fail():
    raise ValueError("from a coroutine")


asyncio.run(main())
try:
    asyncio.run(fail())
except ValueError as error:
    print("caught", error)
