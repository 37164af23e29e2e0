# S23: an audit hook, which cannot be removed, refuses everything: that session is lost, and says so
# expect: ok | error
# spoils
import sys
sys.addaudithook(lambda event, args: (_ for _ in ()).throw(SystemExit(0)))
# --- turn ---
# expect: ok | error | exited
print("may or may not run")
