# Times are positive and ordered; their values are nobody's business.
import time
import timeit

start, cpu, mono = time.perf_counter(), time.process_time(), time.monotonic_ns()
time.sleep(0.01)
print(0.009 < time.perf_counter() - start < 5, time.process_time() >= cpu, time.monotonic_ns() > mono, time.time() > 1.7e9, time.time_ns() > 10 ** 18)
print(timeit.timeit("sum(range(10))", number=100) > 0, len(timeit.repeat("1", number=1, repeat=3)))
print(time.gmtime(0)[:6], time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(86400 * 365)), time.strptime("2024-02-29", "%Y-%m-%d").tm_yday, time.mktime((1970, 1, 2, 0, 0, 0, 0, 0, 0)), time.asctime(time.gmtime(0)), time.ctime(0), time.tzname[0], time.timezone)
print(time.get_clock_info("monotonic").monotonic, time.struct_time(range(9)).tm_hour)
try:
    time.sleep(-1)
except ValueError as error:
    print(error)
