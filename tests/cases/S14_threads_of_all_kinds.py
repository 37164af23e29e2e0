# S14: threads, processes, interpreters: refused, each in its own way; pools run their tasks in this one thread
# expect: ok
# prints: HELD: start_new_thread
# prints: HELD: waitpid
import functools; print = functools.partial(print, flush=True)
import _thread, concurrent.futures, multiprocessing, os, signal, subprocess, threading
def pool(cls, task):
    with cls(9) as p:
        return p.submit(task).result(timeout=1)
tries = {"start_new_thread": lambda: _thread.start_new_thread(print, ()), "joinable": lambda: _thread.start_joinable_thread(print), "timer": lambda: threading.Timer(0, print).start(), "multiprocessing": lambda: multiprocessing.Process(target=print).start(),
         "popen": lambda: subprocess.Popen("true", shell=True), "spawnv": lambda: os.spawnv(0, "/bin/true", ["true"]), "execve": lambda: os.execve("/bin/true", ["true"], {}), "forkpty": lambda: os.forkpty(), "killpg": lambda: os.killpg(0, 9), "waitpid": lambda: os.waitpid(-1, 0)}
for name, f in tries.items():
    try:
        f()
        print("FAIL:", name)
    except Exception as e:
        print("HELD:", name, type(e).__name__)
here = os.getpid(), threading.get_ident()
where = lambda *_: (os.getpid(), threading.get_ident())
for executor in (concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor, concurrent.futures.InterpreterPoolExecutor):
    print("HELD:" if pool(executor, where) == here else "FAIL:", executor.__name__)
print("HELD:" if multiprocessing.Pool(9).map(where, [1, 2]) == [here, here] else "FAIL:", "Pool")
