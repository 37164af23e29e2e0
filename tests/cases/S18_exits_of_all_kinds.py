# S18: exit codes beyond a byte and beyond an int, exits from odd places
# expect: exited
# exit: -1
import sys
sys.exit(2 ** 40)
# --- turn ---
# expect: exited
# exit: 300
import os
os._exit(300)
# --- turn ---
# expect: ok
# exit: 0
import os
os._exit(0)
# --- turn ---
# expect: ok | exited | error
class D:
    def __del__(self):
        raise SystemExit(9)
d = D()
del d
# --- turn ---
# expect: exited | error | ok | crashed
import os, signal
for f in (lambda: os.kill(os.getpid(), 9), lambda: signal.raise_signal(6), lambda: os.kill(0, 9)):
    try:
        f()
    except (OSError, AttributeError, ValueError):
        pass
raise SystemExit
# --- turn ---
# expect: exited | error
class E(SystemExit):
    code = property(lambda self: 1 / 0)
raise E
# --- turn ---
# expect: exited
# exit: 1
raise SystemExit(["a", "list"])
