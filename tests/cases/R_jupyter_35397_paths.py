# R: jupyter-server CVE-2026-35397, path traversal by encodings and separators: a name is a name
# expect: ok
# prints: HELD:
import os
for path in ("%2e%2e/%2e%2e/etc/passwd", "..%2fetc%2fpasswd", "..\\..\\etc\\passwd", "\uff0e\uff0e/\uff0e\uff0e/etc/passwd", "..\u2215etc", "....//....//etc/passwd", "/work/%00/../../etc/passwd", "file:///etc/passwd", "~/../../etc/passwd", "/work//..//..//etc/passwd", "/./../../etc/passwd"):
    try:
        print("FAIL: read", path, open(path).read(10))
    except (OSError, ValueError) as e:
        print("HELD:", ascii(path), getattr(e, "errno", type(e).__name__))
