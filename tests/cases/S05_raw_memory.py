# S05: raw memory, read and written beyond its end and everywhere: a trap at worst
# expect: ok | error | crashed | memory
# spoils
import functools; print = functools.partial(print, flush=True)
import numpy as np
class Memory:
    def __init__(self, start, size):
        self.__array_interface__ = {"data": (start, False), "typestr": "|u1", "shape": (size,), "version": 3}
print("null page", np.asarray(Memory(8, 8)).tolist())
far = np.asarray(Memory(0xF0000000 - (1 << 32), 16)) if False else np.asarray(Memory(0x7FFF0000, 16))
print("FAIL: read beyond the end", far.tolist())
# --- turn ---
# expect: ok | error | crashed | memory | timeout | exited
import numpy as np
class Memory:
    __array_interface__ = {"data": (1024, False), "typestr": "|u1", "shape": (1 << 26,), "version": 3}
np.asarray(Memory())[:] = 0x41
# --- turn ---
# expect: ok | error | crashed | memory | timeout | exited
import random
import numpy as np
class Memory:
    __array_interface__ = {"data": (1024, False), "typestr": "|u1", "shape": (100 << 20,), "version": 3}
m = np.asarray(Memory())
while True:
    at = random.randrange(len(m) - 64)
    m[at : at + 64] = random.randrange(256)
