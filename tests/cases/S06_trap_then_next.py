# S06: after an abort the session goes on, never in the instance that trapped
# expect: crashed
import os
keep = "secret of turn 1"
os.abort()
# --- turn ---
# expect: ok
# prints: state reset
print("state reset" if "keep" not in globals() else "FAIL: trapped instance reused")
