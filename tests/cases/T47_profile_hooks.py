# T47: profile functions that raise end with their cell; the next ones run
# expect: ok | error
import sys, threading
def bad(frame, event, arg):
    raise RuntimeError("profiled")
threading.setprofile(bad)
sys.setprofile(bad)
len([])
# --- turn ---
# expect: ok
# prints: still runs
print("still runs")
