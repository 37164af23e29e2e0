# S21: the namespace of the cells is emptied, and its own builtins are replaced
# expect: ok | error
# spoils
globals().clear()
# --- turn ---
# expect: ok | error
__builtins__ = {"print": lambda *a: 1 / 0}
# --- turn ---
# expect: ok | error
import builtins
builtins.BaseException = builtins.SystemExit = int
# --- turn ---
# expect: error
import builtins
for name in ("BaseException", "SystemExit"):
    setattr(builtins, name, {"BaseException": (lambda: 0).__class__}.get(name, int))
1 / 0
