import time
print(time.time(), time.time_ns(), time.monotonic_ns(), time.perf_counter(), time.process_time_ns())
print(time.ctime(), time.strftime("%Y-%m-%d %H:%M:%S"), time.get_clock_info("monotonic"))
