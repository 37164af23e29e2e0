# R: wasmtime GHSA-96f6-r43r-8c24: the padding of directory entries shows bytes of the host's memory
# expect: ok
# prints: HELD: 0
import os, re
import numpy as np
names = [f"entry{i:04}" for i in range(300)]
for name in names:
    open("/work/" + name, "w").close()
it = os.scandir("/work")
next(it)
class Memory:
    __array_interface__ = {"data": (1024, False), "typestr": "|u1", "shape": (100 << 20,), "version": 3}
m = bytes(np.asarray(Memory()))
# A record of preview 1: cookie u64, inode u64, name length u32, type u8, three bytes of padding, the name.
dirty = seen = 0
for at in (x.start() for x in re.finditer(rb"entry\d{4}", m)):
    if at >= 24 and m[at - 8 : at - 4] == b"\x09\0\0\0" and m[at - 4] == 4:
        seen += 1
        dirty += m[at - 3 : at] != b"\0\0\0"
print("FAIL: dirty" if dirty else "HELD: 0", dirty, "of", seen)
