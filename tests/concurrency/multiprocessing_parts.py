# The examples of "multiprocessing" that start no process of their own.
import multiprocessing, time
from multiprocessing import Pool, TimeoutError, shared_memory
from multiprocessing.pool import ThreadPool
import multiprocessing.dummy

def f(x):
    return x * x

if __name__ == "__main__":
    with Pool(5) as p:
        print(p.map(f, [1, 2, 3]))
    with Pool(processes=4) as pool:
        print(pool.map(f, range(10)))
        for i in pool.imap_unordered(f, range(3)):
            print(i)
        print(pool.apply_async(f, (20,)).get(timeout=1))
        print(pool.starmap(pow, [(2, 3), (3, 2)]), pool.apply(f, (7,)), list(pool.imap(f, range(5), chunksize=2)))
        it = pool.imap(f, range(10))
        print(next(it), next(it), it.next(timeout=1))
        result = pool.map_async(f, [1], callback=lambda values: print("callback", values))
        result.wait()
        print(result.ready(), result.successful())
#> [1, 4, 9]
#> [0, 1, 4, 9, 16, 25, 36, 49, 64, 81]
#> 0
#> 1
#> 4
#> 400
#> [8, 9] 49 [0, 1, 4, 9, 16]
#> 0 1 4
#> callback [1]
#> True True

pool = ThreadPool(2)
print(pool.map(f, [4]))
pool.close()
pool.join()
print(multiprocessing.dummy.Pool(2).map(f, [5]), multiprocessing.get_context("spawn").Pool(1).map(f, [6]))
print(isinstance(pool, multiprocessing.pool.Pool), multiprocessing.cpu_count(), multiprocessing.current_process().name)
try:
    pool.map(f, [1])
except ValueError as error:
    print(error)
#> [16]
#> [25] [36]
#> True 1 MainProcess
#> Pool not running

queue, simple = multiprocessing.Queue(), multiprocessing.SimpleQueue()
queue.put([42, None, "hello"]), simple.put(1)
print(queue.get(), simple.get(), queue.empty())
parent, child = multiprocessing.Pipe()
child.send([42, None, "hello"])
child.close()
print(parent.recv())
number, numbers = multiprocessing.Value("d", 0.0), multiprocessing.Array("i", range(10))
with number.get_lock():
    number.value = 3.1415927
for i in range(len(numbers)):
    numbers[i] = -numbers[i]
print(number.value, numbers[:])
with multiprocessing.Manager() as manager:
    shared, listed = manager.dict(), manager.list(range(3))
    shared["a"] = 1
    listed.reverse()
    print(shared, listed, manager.Value("i", 1).value, manager.Namespace(x=1), manager.Queue().empty())
for kind in (multiprocessing.Lock, multiprocessing.RLock, multiprocessing.Semaphore, multiprocessing.Condition):
    with kind():
        pass
event = multiprocessing.Event()
event.set()
print(event.wait(), multiprocessing.Event().wait(0.01), multiprocessing.Barrier(1).wait())
memory = shared_memory.SharedMemory(create=True, size=10)
memory.buf[:4] = bytearray([22, 33, 44, 55])
print(bytes(shared_memory.SharedMemory(memory.name).buf[:4]))
memory.close(), memory.unlink()
print(list(shared_memory.ShareableList(["howdy", b"HoWdY", -273.154, 100, None, True])))
import numpy
again = shared_memory.SharedMemory(create=True, size=24)
numpy.ndarray((3,), dtype="i8", buffer=again.buf)[:] = [1, 2, 3]
print(numpy.ndarray((3,), dtype="i8", buffer=again.buf).sum())
#> [42, None, 'hello'] 1 True
#> [42, None, 'hello']
#> 3.1415927 [0, -1, -2, -3, -4, -5, -6, -7, -8, -9]
#> {'a': 1} [2, 1, 0] 1 Namespace(x=1) True
#> True False 0
#> b'\x16!,7'
#> ['howdy', b'HoWdY', -273.154, 100, None, True]
#> 6
# --- turn ---
multiprocessing.Process(target=f, args=(1,)).start()
#! RuntimeError: processes cannot be started here: call the function directly, or use multiprocessing.Pool or concurrent.futures, which run their tasks in turn
# --- turn ---
lock = multiprocessing.Lock()
lock.acquire(), lock.acquire()
#! RuntimeError: this would wait for ever
# --- turn ---
multiprocessing.dummy.Process(target=f).start()
#! RuntimeError: threads cannot be started here
