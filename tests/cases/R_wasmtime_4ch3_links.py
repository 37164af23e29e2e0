# R: wasmtime GHSA-4ch3-9j33-3pmj: hard links and renames between folders of different permissions
# expect: ok
# prints: HELD: ('link'
import os
open("/work/f", "w").close()
for op in ("link", "rename", "replace", "symlink"):
    for a, b in (("/usr/local/lib/python315.zip", "/work/x"), ("/work/f", "/usr/local/lib/y"), ("/work/f", "/f"), ("/usr/local/lib/python315.zip", "/tmp/../work/x")):
        try:
            getattr(os, op)(a, b)
            print("FAIL:", (op, a, b))
        except (OSError, AttributeError) as e:
            print("HELD:", (op, a, b), getattr(e, "errno", None))
