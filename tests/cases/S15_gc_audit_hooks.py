# S15: hooks of an earlier cell cannot stop or spy on the host's work
# spoils
# expect: ok
# prints: hooks set
import sys, gc, threading
sys.addaudithook(lambda ev, args: (_ for _ in ()).throw(RuntimeError("hooked")) if ev == "compile" else None)
gc.callbacks.append(lambda *a: None)
print("hooks set")
# --- turn ---
# expect: ok | error
print("turn 2 ran")
