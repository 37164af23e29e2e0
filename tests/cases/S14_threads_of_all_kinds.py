# S14: threads, processes, pools, interpreters, event loops: refused, each in its own way
# expect: ok | crashed | timeout
# prints: HELD: start_new_thread
import functools; print = functools.partial(print, flush=True)
import _thread, concurrent.futures, multiprocessing, os, signal, subprocess, threading
def pool(cls):
    with cls(1) as p:
        return p.submit(int).result(timeout=1)
tries = {"start_new_thread": lambda: _thread.start_new_thread(print, ()), "joinable": lambda: _thread.start_joinable_thread(print), "timer": lambda: threading.Timer(0, print).start(), "threads": lambda: pool(concurrent.futures.ThreadPoolExecutor), "processes": lambda: pool(concurrent.futures.ProcessPoolExecutor), "multiprocessing": lambda: multiprocessing.Process(target=print).start(),
         "pool": lambda: multiprocessing.Pool(1), "shared": lambda: __import__("multiprocessing.shared_memory").shared_memory.SharedMemory(create=True, size=1 << 20), "popen": lambda: subprocess.Popen("true", shell=True), "spawnv": lambda: os.spawnv(0, "/bin/true", ["true"]), "execve": lambda: os.execve("/bin/true", ["true"], {}), "forkpty": lambda: os.forkpty(), "killpg": lambda: os.killpg(0, 9), "waitpid": lambda: os.waitpid(-1, 0)}
for name, f in tries.items():
    try:
        f()
        print("FAIL:", name)
    except Exception as e:
        print("HELD:", name, type(e).__name__)
