import asyncio


async def producer(queue, items):
    for item in items:
        await queue.put(item)
        await asyncio.sleep(0)
    await queue.put(None)


async def consumer(queue, out):
    while (item := await queue.get()) is not None:
        out.append(item * 2)
        queue.task_done()


async def main():
    queue, out = asyncio.Queue(maxsize=2), []
    async with asyncio.TaskGroup() as group:
        group.create_task(producer(queue, range(5)))
        group.create_task(consumer(queue, out), name="consumer")
    print(out)
    lock, order = asyncio.Lock(), []

    async def worker(n):
        async with lock:
            order.append(n)
            await asyncio.sleep(0)
            order.append(n)

    await asyncio.gather(*(worker(n) for n in range(3)))
    print(order)
    semaphore, event = asyncio.Semaphore(2), asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, event.set)
    await event.wait()
    print(semaphore.locked(), event.is_set())
    task = asyncio.create_task(asyncio.sleep(10))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled", task.cancelled())
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(boom())
            group.create_task(asyncio.sleep(5))
    except* ZeroDivisionError as errors:
        print(len(errors.exceptions))


async def boom():
    1 / 0


asyncio.run(main())
