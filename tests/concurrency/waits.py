# Who waits for another thread is told that there is none; who waits with a time limit waits that long.
import queue, threading, time

def timed(wait):
    start = time.monotonic()
    try:
        value = wait()
    except Exception as error:
        value = type(error).__name__
    return value, 0.04 < time.monotonic() - start < 5

lock, condition = threading.Lock(), threading.Condition()
lock.acquire(), condition.acquire()
full = queue.Queue(1)
full.put(1)
for wait in (lambda: lock.acquire(timeout=0.05), lambda: threading.Event().wait(0.05), lambda: condition.wait(0.05),
             lambda: queue.Queue().get(timeout=0.05), lambda: queue.SimpleQueue().get(timeout=0.05),
             lambda: full.put(2, timeout=0.05), lambda: threading.Semaphore(0).acquire(timeout=0.05),
             lambda: threading.Barrier(2).wait(0.05)):
    print(timed(wait))
print(lock.acquire(blocking=False), lock.locked(), threading.RLock().acquire())
#> (False, True)
#> (False, True)
#> (False, True)
#> ('Empty', True)
#> ('Empty', True)
#> ('Full', True)
#> (False, True)
#> ('BrokenBarrierError', True)
#> False True True

caught = 0
for wait in (lock.acquire, threading.Event().wait, condition.wait, queue.Queue().get, queue.SimpleQueue().get,
             lambda: full.put(2), full.join, threading.Semaphore(0).acquire, threading.Barrier(2).wait, lock.__enter__):
    try:
        wait()
        print("went on")
    except RuntimeError as error:
        caught += "would wait for ever" in str(error)
print(caught)
#> 10
# --- turn ---
lock.acquire()
#! RuntimeError: this would wait for ever: no other thread or process runs here that could release a lock, set an event or fill a queue
# --- turn ---
# The session goes on, and the lock is as it was.
lock.release()
with lock:
    print(lock.locked())
#> True
# --- turn ---
threading.Thread(target=print).start()
#! RuntimeError: threads cannot be started here: call the function directly, or use concurrent.futures.ThreadPoolExecutor, which runs its tasks in turn
# --- turn ---
threading.Timer(1, print).start()
#! RuntimeError: threads cannot be started here
# --- turn ---
import _thread
_thread.start_new_thread(print, ())
#! RuntimeError: threads cannot be started here
# --- turn ---
print(threading.active_count(), threading.enumerate() == [threading.main_thread()])
thread = threading.Thread(target=print)
print(thread.is_alive())
thread.join()
#> 1 True
#> False
#! RuntimeError: cannot join thread before it is started
# --- turn ---
import signal
print(signal.signal(signal.SIGINT, lambda *a: print("interrupted")) is signal.default_int_handler)
signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGTERM, signal.SIG_IGN), signal.signal(signal.SIGALRM, print)
signal.alarm(1)
#> True
#> interrupted
#! AttributeError: module 'signal' has no attribute 'alarm': no timer can interrupt the program here; its time limit ends it
# --- turn ---
import os, subprocess, sys
def refusal(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace("[Errno 44] ", ""))
refusal(lambda: subprocess.run(["ls", "-l"]))
refusal(lambda: subprocess.check_output("ls -l", shell=True))
refusal(lambda: subprocess.check_call([sys.executable, "-m", "pip", "install", "rich"]))
refusal(lambda: os.popen("ls"))
refusal(lambda: os.execvp("ls", ["ls"]))
refusal(lambda: os.fork())
print(os.system("clear"), hasattr(os, "fork"))
os.system("ls")
#> FileNotFoundError no programs can be run here, only Python: use a library instead: 'ls'
#> FileNotFoundError no programs can be run here, only Python: use a library instead: 'ls'
#> FileNotFoundError pip cannot be run here: pure-Python packages can be added with --with NAME, when the program is started: '/usr/local/bin/python.wasm'
#> FileNotFoundError no programs can be run here, only Python: use a library instead: 'ls'
#> FileNotFoundError no programs can be run here, only Python: use a library instead: 'ls'
#> AttributeError module 'os' has no attribute 'fork': processes cannot be started here: call the function directly, or use multiprocessing.Pool or concurrent.futures, which run their tasks in turn
#> 0 False
#! FileNotFoundError: [Errno 44] no programs can be run here, only Python: use a library instead: 'ls'
