import asyncio, concurrent.futures, queue, random, threading, time
async def worker(name, jobs, done):
    while not jobs.empty():
        await asyncio.sleep(await jobs.get())
        done.append((name, asyncio.get_running_loop().time()))
async def main():
    jobs, done = asyncio.Queue(), []
    for _ in range(9):
        jobs.put_nowait(random.uniform(0, 1000))
    await asyncio.gather(*(worker(n, jobs, done) for n in range(3)))
    return done
print(asyncio.run(main()))
with concurrent.futures.ThreadPoolExecutor() as pool:
    print(list(pool.map(lambda _: time.monotonic_ns(), range(3))))
# --- turn ---
await asyncio.sleep(86400)
print(threading.Event().wait(3600), threading.Lock().acquire(timeout=5), time.monotonic_ns())
try:
    queue.Queue().get(timeout=random.random())
except queue.Empty:
    print(time.monotonic_ns())
# --- turn ---
try:
    await asyncio.Future()
except RuntimeError as error:
    print(error)
await asyncio.Future()
