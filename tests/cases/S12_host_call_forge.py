# S12: frames of any size to the host's door
# expect: ok
try:
    import _host
    names = [n for n in dir(_host) if not n.startswith("__")]
    print("_host exposes", names)
    for frame in (b"", b"\x00" * 8, b"\xff" * 64, b"{" * 4096, b"A" * (32 << 20)):
        for n in names:
            f = getattr(_host, n)
            if callable(f):
                try:
                    print(n, len(frame), "->", repr(f(frame))[:60])
                except Exception as e:
                    print("HELD:", n, len(frame), type(e).__name__)
except ImportError as e:
    print("HELD:", e)
