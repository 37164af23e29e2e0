import time
a = time.perf_counter_ns()
sum(i * i for i in range(100_000))
b = time.perf_counter_ns()
print(b - a, time.monotonic_ns(), time.time_ns())
# --- turn ---
print(time.perf_counter_ns() - b, time.time_ns())
# --- turn ---
print([time.perf_counter_ns() for _ in range(5)])
