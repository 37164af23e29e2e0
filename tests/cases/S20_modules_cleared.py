# S20: the interpreter's own tables are emptied: the next cells run, or fail and say so
# expect: ok | error
# spoils
import builtins, sys
builtins.__import__ = lambda *a, **k: 1 / 0
sys.modules["__main__"] = sys.modules["builtins"] = None
# --- turn ---
# expect: ok | error
import sys
sys.modules.clear()
# --- turn ---
# expect: ok | error | exited
import sys
sys.path_hooks.clear(), sys.meta_path.clear(), sys.path.clear()
# --- turn ---
# expect: ok | error | exited
vars(__import__("builtins")).clear()
# --- turn ---
# expect: error | ok | crashed | exited
1 / 0
