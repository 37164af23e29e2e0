# S07: poisoned builtins: the host's view of the next cell is right
# spoils
# expect: ok
import builtins, sys, json
builtins.print = lambda *a, **k: None
builtins.len = lambda x: 42
builtins.open = lambda *a, **k: (_ for _ in ()).throw(OSError("poisoned"))
json.dumps = lambda *a, **k: '{"forged": true}'
sys.excepthook = lambda *a: None
sys.displayhook = lambda v: None
# --- turn ---
# expect: error
# raises: ZeroDivisionError
1 / 0
