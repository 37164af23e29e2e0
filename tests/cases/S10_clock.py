# S10: the clock's resolution, for the record
# expect: ok
# prints: min step ns
import time
a = [time.perf_counter_ns() for _ in range(20000)]
d = sorted({y - x for x, y in zip(a, a[1:]) if y > x})
print("min step ns", d[:3], "resolution", time.get_clock_info("perf_counter").resolution)
