# O23: the descriptors of the streams are closed: that session may stay dumb until it is restarted
# expect: ok | error
# spoils
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
