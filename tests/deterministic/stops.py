import random
print(random.random())
kept = random.random()
# --- turn ---
import os
kept = 0
os._exit(3)
# --- turn ---
print(kept if "kept" in globals() else "fresh")
import random
print(random.random())
# --- turn ---
x = [0] * 10 ** 9
# --- turn ---
import os, time
print(os.urandom(4).hex(), time.time())
