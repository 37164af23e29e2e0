# The examples of "Event loop" and "Runners", and the ways of older programs.
import asyncio, datetime, concurrent.futures, contextvars, warnings

def hello_world(loop):
    print("Hello World")
    loop.stop()

loop = asyncio.new_event_loop()
loop.call_soon(hello_world, loop)
try:
    loop.run_forever()
finally:
    loop.close()
print(loop.is_closed())
#> Hello World
#> True

def display_date(end_time, loop, seen):
    seen.append(datetime.datetime.now())
    if (loop.time() + 0.02) < end_time:
        loop.call_later(0.02, display_date, end_time, loop, seen)
    else:
        loop.stop()

loop, seen = asyncio.new_event_loop(), []
loop.call_soon(display_date, loop.time() + 0.07, loop, seen)
loop.run_forever()
loop.close()
print(len(seen) in (3, 4), seen == sorted(seen))
#> True True

async def main():
    return "result"

# As it was done before asyncio.run, in each of its spellings.
loop = asyncio.get_event_loop()
print(loop.run_until_complete(main()), asyncio.get_event_loop() is loop)
print(loop.run_until_complete(asyncio.ensure_future(main(), loop=loop)))
loop.close()
print(asyncio.get_event_loop().run_until_complete(main()))
asyncio.set_event_loop(asyncio.new_event_loop())
print(asyncio.get_event_loop().run_until_complete(main()))
with warnings.catch_warnings(action="ignore"):
    asyncio.set_event_loop_policy(None)
    print(type(asyncio.get_event_loop_policy().new_event_loop()) is asyncio.SelectorEventLoop is asyncio.EventLoop)
#> result True
#> result
#> result
#> result
#> True

with asyncio.Runner() as runner:
    variable = contextvars.ContextVar("variable", default=0)
    async def bump():
        variable.set(variable.get() + 1)
        return variable.get()
    print(runner.run(bump()), runner.run(bump()), runner.get_loop().is_running())
#> 1 2 False

async def inside():
    try:
        asyncio.run(main())
    except RuntimeError as error:
        print(error)
    try:
        asyncio.get_running_loop().run_until_complete(main())
    except RuntimeError as error:
        print(error)

with warnings.catch_warnings(action="ignore"):
    asyncio.run(inside())
#> asyncio.run() cannot be called from a running event loop
#> This event loop is already running

def blocking():
    return "blocking"

def cpu_bound():
    return sum(i * i for i in range(10**3))

async def executors():
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, blocking))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        print(await loop.run_in_executor(pool, blocking))
    with concurrent.futures.ProcessPoolExecutor() as pool:
        print(await loop.run_in_executor(pool, cpu_bound))
    with concurrent.futures.InterpreterPoolExecutor() as pool:
        print(await loop.run_in_executor(pool, cpu_bound))
    variable.set("seen in the thread")
    print(await asyncio.to_thread(variable.get))
    print(await asyncio.gather(*(asyncio.to_thread(pow, 2, n) for n in range(4)), return_exceptions=True))
    try:
        await asyncio.to_thread(int, "x")
    except ValueError as error:
        print(error)

asyncio.run(executors())
#> blocking
#> blocking
#> 332833500
#> 332833500
#> seen in the thread
#> [1, 2, 4, 8]
#> invalid literal for int() with base 10: 'x'

async def handled():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: print("handler:", context["message"], repr(context["exception"])))
    loop.call_soon(int, "y")
    task = loop.create_task(asyncio.sleep(0, int("5")))
    await asyncio.sleep(0)
    loop.call_soon_threadsafe(print, "from another place")
    print(await task, loop.get_debug())

asyncio.run(handled(), debug=True)
#> handler: Exception in callback int('y') ValueError("invalid literal for int() with base 10: 'y'")
#> from another place
#> 5 True

async def eager():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    async def at_once():
        print("at once")
        return 1
    task = asyncio.create_task(at_once())
    print("after", task.done(), await task)

asyncio.run(eager())
#> at once
#> after True 1

async def numbers():
    try:
        for n in range(10):
            yield n
    finally:
        print("generator closed")

async def leaves_a_generator():
    async for n in numbers():
        break
    print("left")

asyncio.run(leaves_a_generator())
#> left
#> generator closed

print(asyncio.iscoroutinefunction(main) if not warnings.simplefilter("ignore") else None, asyncio.iscoroutine(c := main()),
      asyncio.isfuture(c), c.close())
#> True True False None

async def refused():
    loop = asyncio.get_running_loop()
    async def kind(awaitable):
        try:
            await awaitable
        except OSError as error:
            return f"{type(error).__name__}: {error.strerror}"
    print(await kind(asyncio.open_connection("example.org", 443)))
    print(await kind(asyncio.start_server(print, "127.0.0.1", 8000)))
    print(await kind(loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("", 1))))
    print(await kind(asyncio.create_subprocess_shell("ls")))
    print(await kind(asyncio.create_subprocess_exec("ls", "-l")))
    import signal, sys
    for call in (lambda: loop.add_signal_handler(signal.SIGINT, print), lambda: loop.add_reader(sys.stdin, print)):
        try:
            call()
        except NotImplementedError as error:
            print(error)

asyncio.run(refused())
#> OSError: there is no network here: give the data as a file (--file) or write it into the code
#> OSError: there is no network here: give the data as a file (--file) or write it into the code
#> OSError: there is no network here: give the data as a file (--file) or write it into the code
#> FileNotFoundError: no programs can be run here, only Python: use a library instead
#> FileNotFoundError: no programs can be run here, only Python: use a library instead
#> add_signal_handler() is not there: this event loop has no files, pipes or signals to watch
#> add_reader() is not there: this event loop has no files, pipes or signals to watch

async def graph():
    async def deep():
        return asyncio.format_call_graph().count("async generator") == 0 and "deep" in asyncio.format_call_graph()
    print(await asyncio.create_task(deep(), name="deep"))

asyncio.run(graph())
#> True
# --- turn ---
async def waits():
    await asyncio.Event().wait()

async def both():
    await asyncio.gather(waits(), waits())

asyncio.run(both())
#! RuntimeError: the event loop would wait for ever: no timer is set, and nothing else runs here that could wake it. Waiting:
# --- turn ---
asyncio.new_event_loop().run_forever()
#! RuntimeError: the event loop would wait for ever: no timer is set, and nothing else runs here that could wake it
# --- turn ---
asyncio.run(asyncio.sleep(0, 1)) + asyncio.get_event_loop().run_until_complete(asyncio.sleep(0, 1))
#= 2
