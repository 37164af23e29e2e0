# F01: writing ends at the scratch quota
# expect: ok
# prints: HELD: errno 51 after 64 MiB
import functools; print = functools.partial(print, flush=True)  # a trap loses buffered stdout
done = 0
try:
    with open("/work/fill", "wb", buffering=0) as f:
        block = b"\xaa" * (4 << 20)
        while done < 1536 << 20:
            done += f.write(block)
    print("FAIL: wrote", done >> 20, "MiB with no quota")
except OSError as e:
    print("HELD: errno", e.errno, "after", done >> 20, "MiB")
