# Cells with an `await` of their own, as notebooks have them: one loop for the session.
import asyncio
results = []

async def work(name, seconds):
    await asyncio.sleep(seconds)
    results.append(name)
    return name

await asyncio.gather(work("a", 0.02), work("b", 0.01))
#= ['a', 'b']
# --- turn ---
background = asyncio.create_task(work("background", 0.01))
await asyncio.sleep(0)
print(results, background.done())
#> ['b', 'a'] False
# --- turn ---
# In between a loop of its own comes and goes.
asyncio.run(work("run", 0))
#= 'run'
# --- turn ---
print(await background, results)
#> background ['b', 'a', 'run', 'background']
# --- turn ---
async with asyncio.timeout(0.01):
    await asyncio.sleep(5)
#! TimeoutError
# --- turn ---
[n async for n in (x async for x in __import__("sys").modules["__main__"].counting(3))]
#! AttributeError: module '__main__' has no attribute 'counting'
# --- turn ---
async def counting(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i

[n * n async for n in counting(4)]
#= [0, 1, 4, 9]
# --- turn ---
async for n in counting(2):
    print(n)
#> 0
#> 1
# --- turn ---
import numpy as np, contextvars
variable = contextvars.ContextVar("variable")
variable.set(np.arange(await asyncio.sleep(0, 3.0)))
# --- turn ---
variable.get().sum()
#= np.float64(3.0)
# --- turn ---
await asyncio.Future()
#! RuntimeError: the event loop would wait for ever: no timer is set, and nothing else runs here that could wake it. Waiting: cell in <module>, cell 11, line 1
# --- turn ---
asyncio.run(asyncio.sleep(0)); await asyncio.sleep(0)
#! RuntimeError: asyncio.run() cannot be called from a running event loop
# --- turn ---
await asyncio.sleep(0, "still there")
#= 'still there'
