# S13: what one session held is nowhere in the memory of the next
# expect: ok
kept = [("planted-" + "secret-%d" % i) * 50 for i in range(20_000)]
# --- fresh ---
# expect: ok
# prints: HELD: 0
import numpy as np
word = "".join(chr(c) for c in (112, 108, 97, 110, 116, 101, 100, 45, 115, 101, 99, 114, 101, 116)).encode()
class Memory:
    __array_interface__ = {"data": (1024, False), "typestr": "|u1", "shape": (100 << 20,), "version": 3}
m = memoryview(np.asarray(Memory()))
found = 0
step = 1 << 22
import re
once = re.compile(re.escape(word[:7]) + b"[-]" + re.escape(word[8:]) + b"-[0-9]+p")
for at in range(0, len(m), step):
    found += len(once.findall(m[at : at + step]))
print("FAIL: found" if found else "HELD:", found)
