# M15: buffers of all kinds that are larger than memory
# expect: ok | timeout
# prints: HELD: bytes
import array, collections, functools, io, itertools, struct
print = functools.partial(print, flush=True)
tries = {"bytes": lambda: bytes(2 ** 31 - 10), "bytearray": lambda: bytearray(2 ** 40), "array": lambda: array.array("d", [0]) * 10 ** 9, "deque": lambda: collections.deque([0]) * 10 ** 9, "struct": lambda: struct.pack("1500000000x"),
         "io": lambda: io.BytesIO(bytes(1 << 29)).getbuffer(), "tuple": lambda: (None,) * 2 ** 29, "range": lambda: list(range(10 ** 9)),
         "dict": lambda: dict.fromkeys(range(10 ** 8)), "accumulate": lambda: list(itertools.accumulate(itertools.repeat("x" * 1000)))}
for name, f in tries.items():
    try:
        f()
        print("FAIL: got", name)
    except (MemoryError, OverflowError, struct.error, ValueError, SystemError) as e:
        print("HELD:", name, type(e).__name__)
