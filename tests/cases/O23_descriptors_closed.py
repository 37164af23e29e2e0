# O23: the descriptors of the streams are closed, their encoding is changed: what comes after a close is heard again
# expect: ok
import sys
sys.stdout.reconfigure(encoding="utf-16", newline="\r\n", line_buffering=False, write_through=False)
print("reconfigured")
# --- fresh ---
# expect: ok | error
import os
os.close(1)
os.close(2)
os.close(0)
# --- turn ---
# expect: ok
# prints: HELD: heard
print("HELD: heard", repr(__import__("sys").stdin.read()))
# --- turn ---
# expect: error
1 / 0
# --- turn ---
# expect: ok | error
import os, sys
sys.stdout.close()
sys.stderr.close()
os.close(1)
os.close(2)
# --- turn ---
# expect: ok
# prints: HELD: heard again
print("HELD: heard again")
# --- turn ---
# expect: ok | error
import os
os.close(1)
kept = open("/work/taken", "w")
print("into the file", kept.fileno(), flush=True)
# --- turn ---
# expect: ok
kept.close()
