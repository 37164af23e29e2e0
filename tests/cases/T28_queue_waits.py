# T28: waiting for a queue, an event, a condition, a semaphore, a barrier, each with and without a time
# expect: ok
import functools; print = functools.partial(print, flush=True)
import queue, threading
def condition():
    c = threading.Condition()
    with c:
        return c.wait(0.05)
for f in (lambda: queue.Queue().get(timeout=0.05), lambda: threading.Event().wait(0.05), condition, lambda: threading.Semaphore(0).acquire(timeout=0.05),
          lambda: threading.Barrier(2).wait(0.05), lambda: queue.Queue().get()):
    try:
        print("check:", f())
    except Exception as e:
        print("HELD:", type(e).__name__)

