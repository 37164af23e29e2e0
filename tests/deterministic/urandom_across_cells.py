import os
print(os.urandom(5).hex(), len(os.urandom(3_000_000)))
# --- turn ---
print(os.urandom(5).hex(), os.getrandom(4).hex() if hasattr(os, "getrandom") else "")
