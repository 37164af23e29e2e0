# T54: random bytes without end
# expect: timeout
import os, random
r = random.SystemRandom()
while True:
    os.urandom(1 << 20)
    r.getrandbits(1 << 16)
