import time
for s in (0.001, 0, 0.25, 0.5):
    a, w = time.monotonic_ns(), time.time()
    time.sleep(s)
    print(s, time.monotonic_ns() - a, time.time() - w)
