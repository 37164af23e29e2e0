# M18: memory maps: refused, or within the memory limit
# expect: ok | memory
import functools; print = functools.partial(print, flush=True)
try:
    import mmap
    for size in (1 << 20, 1 << 30, (1 << 31) - 4096):
        try:
            m = mmap.mmap(-1, size)
            print("FAIL: mapped" if size > 512 << 20 else "check: mapped", size)
            m.close()
        except (OSError, ValueError, OverflowError, MemoryError) as e:
            print("HELD:", size, type(e).__name__)
except ImportError as e:
    print("HELD:", e)
