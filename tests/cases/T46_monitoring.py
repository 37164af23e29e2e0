# T46: monitoring callbacks that raise or spin end with their cell; the next ones run
# expect: ok | error
import sys
m = sys.monitoring
m.use_tool_id(2, "bad")
def bad(*args):
    raise RuntimeError("monitored")
for event in (m.events.PY_START, m.events.CALL, m.events.LINE, m.events.PY_RETURN):
    m.register_callback(2, event, bad)
m.set_events(2, m.events.PY_START | m.events.CALL | m.events.LINE | m.events.PY_RETURN)
# --- turn ---
# expect: ok
# prints: still runs
print("still runs")
# --- turn ---
# expect: timeout
import sys
m = sys.monitoring
m.use_tool_id(3, "spin")
def spin(*args):
    while True:
        pass
m.register_callback(3, m.events.PY_START, spin)
m.set_events(3, m.events.PY_START)
(lambda: 1)()
# --- turn ---
# expect: ok
# prints: runs again
print("runs again")
