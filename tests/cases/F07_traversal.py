# F07: paths that lead out are refused
# expect: ok
# prints: HELD: ../etc/passwd
paths = ["/etc/passwd", "../etc/passwd", "/work/../etc/passwd", "/work/../../../../../../etc/passwd", "//etc/passwd",
         "/work/./../etc/hostname", "/proc/self/environ", "/dev/zero", "/work/\u2025/etc/passwd", "/usr/local/lib/../../../etc/passwd",
         "C:\\Windows\\win.ini", "\\\\?\\C:\\Windows", "/work/CON", "file:///etc/passwd", "/work/" + "../" * 400 + "etc/passwd"]
for p in paths:
    try:
        with open(p, "rb") as f:
            print("FAIL: read", p, f.read(16))
    except (OSError, ValueError) as e:
        print("HELD:", p[:40], type(e).__name__, getattr(e, "errno", None))
