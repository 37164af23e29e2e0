# T29: every way to wait: poll, select, kqueue, selectors
# expect: timeout
import functools; print = functools.partial(print, flush=True)
import select, selectors
for f in (lambda: select.select([], [], [], 0.01), lambda: select.poll().poll(10), lambda: selectors.DefaultSelector().select(0.01), lambda: select.select([0], [1], [], 3600)):
    try:
        print("check:", f())
    except Exception as e:
        print("HELD:", type(e).__name__)
import time
try:
    select.select([], [], [], 3600)
except (OSError, ValueError):
    time.sleep(3600)
print("FAIL: waited an hour")
