import time
t = time.time()
time.sleep(0.05)
# --- turn ---
print(time.time() - t)
time.sleep(0.05)
# --- turn ---
print(time.time() - t, time.monotonic())
