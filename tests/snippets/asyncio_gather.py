import asyncio

async def fetch(name, delay):
    await asyncio.sleep(delay)
    return f"{name} after {delay}"

async def main():
    results = await asyncio.gather(fetch("a", 0.02), fetch("b", 0.01), fetch("c", 0))
    for line in results:
        print(line)
    async with asyncio.timeout(1):
        print(await fetch("d", 0))

asyncio.run(main())
