# R: bytecodealliance/wasmtime#9188: epochs do not reach a guest that sleeps in the host; nor does fuel what polls cost (GHSA-j366-h8gg-77pm)
# expect: timeout
import select, time
while True:
    for f in (lambda: time.sleep(0.0001), lambda: select.select([], [], [], 0), lambda: select.select([0] * 500, [1] * 500, [], 0)):
        try:
            f()
        except (OSError, ValueError):
            pass
# --- turn ---
# expect: timeout
import time
while True:
    try:
        time.sleep(1e6)
    except BaseException:
        pass
