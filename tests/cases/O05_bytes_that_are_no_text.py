# O05: bytes that are no text, NUL and lone surrogates everywhere: the outcome is valid JSON
# expect: error
import os, sys
os.write(1, bytes(range(256)) * 4 + b"\xf0\x9f\x98")
os.write(2, b"\x00\xff\xfe\xc3\x28\xed\xa0\x80")
sys.stdout.buffer.write(b"\xe2\x82")
print("\ud800\udfff\x00", "\udcff")
class E(Exception):
    pass
E.__name__ = E.__qualname__ = "E\x00\x1b[31m"
raise E("\ud800 and \x00 and \udc80")
# --- turn ---
# expect: ok
class R:
    def __repr__(self):
        return "\ud800\x00\x1b]0;x\x07\udcff"
R()
# --- turn ---
# expect: exited
# exit: 1
raise SystemExit("\ud800\x00")
