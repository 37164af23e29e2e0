# S04: no processes, no threads
# expect: ok
# prints: HELD: subprocess
# prints: HELD: thread
import os, subprocess, threading
tries = {"subprocess": lambda: subprocess.run(["true"]), "system": lambda: os.system("true"), "fork": lambda: os.fork(),
         "execv": lambda: os.execv("/bin/true", ["true"]), "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
         "popen": lambda: os.popen("true"), "thread": lambda: threading.Thread(target=print).start(), "kill": lambda: os.kill(1, 9)}
for k, f in tries.items():
    try:
        r = f()
        print("FAIL:" if r not in (None, -1, 127) else "check:", k, r)
    except Exception as e:
        print("HELD:", k, type(e).__name__)
