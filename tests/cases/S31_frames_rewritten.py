# S31: a cell reaches the driver's frames and rewrites what they hold: its own status at most
# expect: ok | error | exited
# spoils
import sys
def rewrite():
    f = sys._getframe(2)
    while f is not None:
        for key in list(f.f_locals):
            if f.f_code.co_name != "<module>":
                f.f_locals[key] = None
        f = f.f_back
rewrite()
# --- turn ---
# expect: ok | error | exited
import sys
def empty():
    f = sys._getframe(2)
    while f is not None:
        f.f_globals.update({key: None for key in list(f.f_globals) if not key.startswith("__")})
        f = f.f_back
empty()
# --- turn ---
# expect: ok | error | exited | crashed
1 / 0
