from concurrent.futures import ThreadPoolExecutor, as_completed
import threading

results = []


def work(n):
    results.append(n)
    return n * n


thread = threading.Thread(target=work, args=(3,), name="mine")
thread.start()
thread.join()
print(results, thread.is_alive(), thread.name)
with ThreadPoolExecutor(max_workers=2) as pool:
    print(list(pool.map(work, range(5))))
    futures = {pool.submit(work, n): n for n in (7, 8)}
    print(sorted(future.result() for future in as_completed(futures)))
    print(type(pool.submit(int, "x").exception()).__name__)
counter, lock = 0, threading.Lock()


def add():
    global counter
    for _ in range(100):
        with lock:
            counter += 1


threads = [threading.Thread(target=add) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(counter)
