# The examples of the library reference, "Coroutines and tasks".
import asyncio

async def main():
    print("hello")
    await asyncio.sleep(0.01)
    print("world")

asyncio.run(main())
#> hello
#> world

async def say_after(delay, what):
    await asyncio.sleep(delay)
    print(what)

async def main():
    await say_after(0.01, "one after")
    await say_after(0.02, "the other")
    tasks = [asyncio.create_task(say_after(0.04, "second")), asyncio.create_task(say_after(0.02, "first"))]
    for task in tasks:
        await task
    async with asyncio.TaskGroup() as group:
        group.create_task(say_after(0.04, "last of the group"))
        group.create_task(say_after(0.02, "first of the group"))
    print("the group has ended")

asyncio.run(main())
#> one after
#> the other
#> first
#> second
#> first of the group
#> last of the group
#> the group has ended

async def factorial(name, number):
    f = 1
    for i in range(2, number + 1):
        print(f"Task {name}: Compute factorial({number}), currently i={i}...")
        await asyncio.sleep(0.01)
        f *= i
    print(f"Task {name}: factorial({number}) = {f}")
    return f

async def main():
    print(await asyncio.gather(factorial("A", 2), factorial("B", 3), factorial("C", 4)))

asyncio.run(main())
#> Task A: Compute factorial(2), currently i=2...
#> Task B: Compute factorial(3), currently i=2...
#> Task C: Compute factorial(4), currently i=2...
#> Task A: factorial(2) = 2
#> Task B: Compute factorial(3), currently i=3...
#> Task C: Compute factorial(4), currently i=3...
#> Task B: factorial(3) = 6
#> Task C: Compute factorial(4), currently i=4...
#> Task C: factorial(4) = 24
#> [2, 6, 24]

class TerminateTaskGroup(Exception):
    """Raised to terminate a task group."""

async def force_terminate_task_group():
    raise TerminateTaskGroup()

async def job(task_id, sleep_time):
    print(f"Task {task_id}: start")
    await asyncio.sleep(sleep_time)
    print(f"Task {task_id}: done")

async def main():
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(job(1, 0.01))
            group.create_task(job(2, 30))
            await asyncio.sleep(0.02)
            group.create_task(force_terminate_task_group())
    except* TerminateTaskGroup:
        print("terminated")

asyncio.run(main())
#> Task 1: start
#> Task 2: start
#> Task 1: done
#> terminated

async def eternity():
    await asyncio.sleep(3600)
    print("yay!")

async def main():
    try:
        await asyncio.wait_for(eternity(), timeout=0.01)
    except TimeoutError:
        print("timeout!")
    try:
        async with asyncio.timeout(0.01):
            await eternity()
    except TimeoutError:
        print("The long operation timed out, but we've handled it.")
    try:
        async with asyncio.timeout(None) as limit:
            limit.reschedule(asyncio.get_running_loop().time() + 0.01)
            await eternity()
    except TimeoutError:
        print(limit.expired())
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + 0.01):
            await eternity()
    except TimeoutError:
        print("too late")

asyncio.run(main())
#> timeout!
#> The long operation timed out, but we've handled it.
#> True
#> too late

async def cancel_me():
    print("cancel_me(): before sleep")
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print("cancel_me(): cancel sleep")
        raise
    finally:
        print("cancel_me(): after sleep")

async def main():
    task = asyncio.create_task(cancel_me(), name="cancelled")
    await asyncio.sleep(0.01)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as error:
        print("main(): cancel_me is cancelled now", error.args, task.cancelled(), task.get_name())

asyncio.run(main())
#> cancel_me(): before sleep
#> cancel_me(): cancel sleep
#> cancel_me(): after sleep
#> main(): cancel_me is cancelled now ('enough',) True cancelled

async def value(seconds, result):
    await asyncio.sleep(seconds)
    return result

async def main():
    done, pending = await asyncio.wait([asyncio.create_task(value(0.01, "a")), asyncio.create_task(value(9, "b"))],
                                       return_when=asyncio.FIRST_COMPLETED)
    print(len(done), len(pending), done.pop().result())
    for task in pending:
        task.cancel()
    for earliest in asyncio.as_completed([value(0.03, 3), value(0.01, 1), value(0.02, 2)]):
        print(await earliest)
    async for task in asyncio.as_completed([asyncio.create_task(value(0.02, "y")), asyncio.create_task(value(0.01, "x"))]):
        print(task.result())
    inner = asyncio.create_task(value(0.02, "kept"))
    outer = asyncio.ensure_future(asyncio.shield(inner))
    await asyncio.sleep(0)
    outer.cancel()
    error, result = await asyncio.gather(outer, inner, return_exceptions=True)
    print(type(error).__name__, result)

asyncio.run(main())
#> 1 1 a
#> 1
#> 2
#> 3
#> x
#> y
#> CancelledError kept
