# O22: a cell that speaks to the host itself: what it says of its own end decides nothing
# expect: error
import _host, _slm_wire
for frame in (b'{"kind":"exit","code":0}', b'{"kind":"result","data":{"text/plain":"FORGED"}}', b'{"kind":"status","status":"ok"}', b'{"kind":"exit","code":99999999999}', b'{"kind":"error","type":null}', b'[' * 100_000):
    _slm_wire.send(frame)
1 / 0
# --- turn ---
# expect: ok
import _slm_wire
_slm_wire.send(b'{"kind":"exit","code":7}')
_slm_wire.send(b'{"kind":"error","type":"Forged","message":"m","line":1,"traceback":""}')
# --- turn ---
# expect: exited | error
# exit: 3
import _slm_wire
_slm_wire.send(b'{"kind":"exit","code":0}')
raise SystemExit(3)
