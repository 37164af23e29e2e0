import time
import timeit

start = time.perf_counter()
total = sum(i for i in range(1000))
elapsed = time.perf_counter() - start
print(total, elapsed >= 0, elapsed < 5)
begin = time.monotonic()
time.sleep(0.02)
print(0.02 <= time.monotonic() - begin < 5)
print(timeit.timeit("x + 1", setup="x = 1", number=1000) < 5, len(timeit.repeat("1 + 1", number=10, repeat=3)))
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(86400)), time.time() > 1.6e9, time.process_time() >= 0)
print(time.localtime(0).tm_year, time.tzname[0], time.mktime(time.gmtime(1000)))
