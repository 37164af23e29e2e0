# M10: much randomness at once: the host holds no buffer of a size that the guest names
# expect: ok | memory
import os
for n in (1 << 20, 65 << 20, 512 << 20):
    try:
        b = os.urandom(n)
        print("got", len(b))
        del b
    except (OSError, MemoryError) as e:
        print("HELD:", n, type(e).__name__)
