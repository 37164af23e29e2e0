# S09: exits are reported as they were, and the session goes on
# expect: exited
# exit: 5
import sys
sys.exit(5)
# --- turn ---
# expect: exited
# exit: 1
raise SystemExit("text means 1")
# --- turn ---
# expect: exited
# exit: 4
lost = 1
import os
os._exit(4)
# --- turn ---
# expect: ok
# prints: alive, rewound
print("FAIL: state of the exited cell" if "lost" in globals() else "alive, rewound")
