import asyncio

async def producer(queue):
    for number in range(5):
        await queue.put(number)
    await queue.put(None)

async def consumer(queue):
    total = 0
    while (item := await queue.get()) is not None:
        total += item * item
    return total

async def main():
    queue = asyncio.Queue(maxsize=2)
    async with asyncio.TaskGroup() as group:
        group.create_task(producer(queue))
        total = group.create_task(consumer(queue))
    print("Total:", total.result())

if __name__ == "__main__":
    asyncio.run(main())
