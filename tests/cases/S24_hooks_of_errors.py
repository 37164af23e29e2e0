# S24: hooks that lie about errors: the host's status stands
# expect: ok
import sys, threading
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: (_ for _ in ()).throw(SystemExit(0))
sys.displayhook = lambda v: (_ for _ in ()).throw(SystemExit(0))
# --- turn ---
# expect: error
# raises: ZeroDivisionError
1 / 0
# --- turn ---
# expect: ok
class D:
    def __del__(self):
        1 / 0
D()
