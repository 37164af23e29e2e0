# F10: names that are odd on some system: they are refused, or come out of listings, outcomes and copies as they are
# expect: ok
# prints: HELD: 'nul\x00'
import os
names = ["new\nline", "nul\0", "tab\t", "\x1b[31m", "-rf", "CON", "aux.txt", "dot.", "space ", " ", "...", "..\\..\\x", "C:x", "a:b", "q\"'`$(x)", "\u202egnp", "e\u0301", "\u00e9", "x" * 255, "x" * 256, "\U0001f600" * 60, "\udcff\udcfe", b"\xff\xfe",
         "\u2025", "%2e%2e", "a/b", ".", "..", "", "*?", "\ufeff", "\u00a0", "LPT1", "~", "~root", "desktop.ini", ".git", "__init__.py"]
for name in names:
    path = b"/work/" + name if isinstance(name, bytes) else "/work/" + name
    try:
        open(path, "x").close()
        print("made", ascii(name)[:40])
    except (OSError, ValueError, UnicodeError) as e:
        print("HELD:", ascii(name)[:40], type(e).__name__, getattr(e, "errno", None))
print(len(os.listdir("/work")), len(os.listdir(b"/work")), [len(n) for n in sorted(os.listdir("/work"))][:3])
