import atexit, random, time
atexit.register(lambda: print("end", random.random(), time.time()))
print("begin", random.random())
raise SystemExit(random.randrange(1, 100))
# --- turn ---
print("goes on", random.random())
