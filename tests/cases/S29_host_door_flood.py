# S29: a million frames at the host's door, of every type: bounded, and each refused or taken at once
# expect: timeout
# prints: HELD:
import functools; print = functools.partial(print, flush=True)
import _host
for value in (None, 1, "text", bytearray(b"{}"), memoryview(b"{}"), [b"{}"]):
    try:
        _host.call(value)
        print("check:", type(value).__name__)
    except Exception as e:
        print("HELD:", type(e).__name__)
frame = b'{"kind":"display","data":{"text/plain":"' + b"x" * 100_000 + b'"}}'
while True:
    for f in (frame, b"", b"{}", b"\xff" * 1000, b'{"kind":"result","data":{}}', b"[" * 100_000):
        try:
            _host.call(f)
        except Exception:
            pass
