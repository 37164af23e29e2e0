# T27: waiting for a lock that nobody can release
# expect: error
# raises: RuntimeError
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
print("FAIL: acquired twice")
