# O23: the descriptors of the streams are closed, their encoding is changed: that session may stay dumb until it is restarted
# expect: ok | error
# spoils
import sys
sys.stdout.reconfigure(encoding="utf-16", newline="\r\n", line_buffering=False, write_through=False)
print("reconfigured")
# --- turn ---
# expect: ok | error
import os
os.close(1)
os.close(2)
os.close(0)
# --- turn ---
# expect: ok | error
print("perhaps")
# --- turn ---
# expect: error
1 / 0
