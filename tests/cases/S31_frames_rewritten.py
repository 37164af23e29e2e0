# S31: a cell reaches the driver's frames and rewrites what they hold: its own status at most
# expect: ok | error | exited
# spoils
import sys
f = sys._getframe()
while f is not None:
    for key in list(f.f_locals):
        try:
            f.f_locals[key] = None
        except Exception:
            pass
    f = f.f_back
# --- turn ---
# expect: ok | error | exited
import sys
f = sys._getframe().f_back
while f is not None:
    f.f_globals.update({key: None for key in list(f.f_globals) if not key.startswith("__")})
    f = f.f_back
# --- turn ---
# expect: ok | error | exited | crashed
1 / 0
