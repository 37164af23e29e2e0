# Locks, events and queues without a second thread, as single-threaded programs use them.
import queue
import sched
import threading

lock, rlock = threading.Lock(), threading.RLock()
with lock:
    print(lock.locked(), lock.acquire(blocking=False))
with rlock, rlock:
    print("reentrant", rlock.acquire())
    rlock.release()
event, semaphore = threading.Event(), threading.BoundedSemaphore(2)
event.set()
print(event.is_set(), event.wait(1), semaphore.acquire(), semaphore.acquire(blocking=False), semaphore.acquire(blocking=False))
semaphore.release()
semaphore.release()
q = queue.Queue(maxsize=2)
q.put("a")
q.put_nowait("b")
print(q.full(), q.qsize(), q.get(), q.get_nowait(), q.empty())
for bad in (lambda: q.get_nowait(), lambda: [q.put_nowait(n) for n in range(3)], lambda: semaphore.release(), lambda: lock.release(), lambda: rlock.release()):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)
p = queue.PriorityQueue()
for item in [(3, "c"), (1, "a"), (2, "b")]:
    p.put(item)
print([p.get()[1] for _ in range(3)], queue.LifoQueue().empty())
local = threading.local()
local.x = 5
print(local.x, hasattr(local, "y"), threading.current_thread().name, threading.active_count(), threading.main_thread() is threading.current_thread())
s, order = sched.scheduler(), []
for delay, name in ((0.002, "later"), (0.001, "soon"), (0, "now")):
    s.enter(delay, 1, order.append, (name,))
s.run()
print(order, s.empty())
