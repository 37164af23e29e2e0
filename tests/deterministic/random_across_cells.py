import random
print(random.random())
# --- turn ---
print(random.random(), random.getrandbits(100))
# --- turn ---
r = random.Random()
print(r.random(), random.expovariate(1), random.randbytes(9).hex())
