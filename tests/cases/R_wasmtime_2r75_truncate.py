# R: wasmtime GHSA-2r75-cxrj-cmph: truncating while opening, where only reading is allowed
# expect: ok
# prints: HELD: /usr/local/lib/python315.zip
import os
for path in ("/usr/local/lib/python315.zip", "/work/../usr/local/lib/python315.zip"):
    for flags in (os.O_RDONLY | os.O_TRUNC, os.O_TRUNC, os.O_RDONLY | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_TRUNC):
        try:
            os.open(path, flags)
            print("FAIL:", path, flags)
        except OSError as e:
            print("HELD:", path, e.errno)
print(os.path.getsize("/usr/local/lib/python315.zip") > 10 << 20)
