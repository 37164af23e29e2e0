# The examples of "Synchronization primitives" and "Queues".
import asyncio

async def main():
    lock, order = asyncio.Lock(), []
    async def critical(name):
        async with lock:
            order.append(name)
            await asyncio.sleep(0)
            order.append(name)
    await asyncio.gather(critical("a"), critical("b"))
    print(order, lock.locked())

    event = asyncio.Event()
    async def waiter():
        print("waiting for it ...")
        await event.wait()
        print("... got it!")
    task = asyncio.create_task(waiter())
    await asyncio.sleep(0.01)
    event.set()
    await task

    condition, ready = asyncio.Condition(), []
    async def consumer():
        async with condition:
            await condition.wait_for(lambda: ready)
            print("consumed", ready.pop())
    task = asyncio.create_task(consumer())
    await asyncio.sleep(0)
    async with condition:
        ready.append("item")
        condition.notify_all()
    await task

    semaphore, most, now = asyncio.Semaphore(2), 0, 0
    async def limited():
        nonlocal most, now
        async with semaphore:
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
    await asyncio.gather(*(limited() for _ in range(6)))
    print("at most", most)
    try:
        asyncio.BoundedSemaphore(1).release()
    except ValueError as error:
        print(error)

    barrier = asyncio.Barrier(3)
    async def meet(n):
        async with barrier as position:
            return position
    print(sorted(await asyncio.gather(*map(meet, range(3)))))

asyncio.run(main())
#> ['a', 'a', 'b', 'b'] False
#> waiting for it ...
#> ... got it!
#> consumed item
#> at most 2
#> BoundedSemaphore released too many times
#> [0, 1, 2]

async def worker(name, queue, done):
    while True:
        sleep_for = await queue.get()
        await asyncio.sleep(sleep_for)
        queue.task_done()
        done.append(name)

async def main():
    queue, done = asyncio.Queue(), []
    for n in range(20):
        queue.put_nowait(0.001 * (n % 3 + 1))
    tasks = [asyncio.create_task(worker(f"worker-{i}", queue, done)) for i in range(3)]
    await queue.join()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(len(done), sorted(set(done)))

    bounded = asyncio.Queue(maxsize=1)
    async def produce():
        for n in range(3):
            await bounded.put(n)
        bounded.shutdown()
    async def consume():
        got = []
        try:
            while True:
                got.append(await bounded.get())
        except asyncio.QueueShutDown:
            return got
    print((await asyncio.gather(produce(), consume()))[1])
    for kind in (asyncio.PriorityQueue, asyncio.LifoQueue):
        queue = kind()
        for n in (2, 1, 3):
            queue.put_nowait(n)
        print([queue.get_nowait() for _ in range(3)], queue.empty())
    try:
        queue.get_nowait()
    except asyncio.QueueEmpty:
        print("empty")

asyncio.run(main())
#> 20 ['worker-0', 'worker-1', 'worker-2']
#> [0, 1, 2]
#> [1, 2, 3] True
#> [3, 1, 2] True
#> empty
