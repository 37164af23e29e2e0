# T12: trace functions that spin or raise end with their cell; the next ones run
# expect: timeout
import sys
def spin(frame, event, arg):
    while True:
        pass
sys.settrace(spin)
(lambda: 1)()
# --- turn ---
# expect: error | ok
import sys
def bad(frame, event, arg):
    raise RuntimeError("traced")
sys.settrace(bad)
(lambda: 1)()
# --- turn ---
# expect: ok
# prints: still runs
print("still runs")
