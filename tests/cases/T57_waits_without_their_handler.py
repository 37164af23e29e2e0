# T57: the signal that ends a wait is ignored, or its handler does something else
# expect: timeout
import signal, threading
lock = threading.Lock()
lock.acquire()
signal.signal(16, signal.SIG_IGN)
lock.acquire()
print("FAIL: acquired twice")
# --- turn ---
# expect: ok
# prints: HELD: ZeroDivisionError
# prints: HELD: released
import signal, threading
lock = threading.Lock()
lock.acquire()
signal.signal(16, lambda *a: 1 / 0)
try:
    lock.acquire()
    print("FAIL: acquired twice")
except ZeroDivisionError as e:
    print("HELD:", type(e).__name__)
signal.signal(16, lambda *a: lock.release())
print("HELD: released" if lock.acquire() and lock.locked() else "FAIL: not acquired")
