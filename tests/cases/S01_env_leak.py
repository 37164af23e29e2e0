# S01: the host's environment (SBX_CANARY=leakme is in it) is not the guest's
# expect: ok
# prints: HELD: no canary
import os
print("FAIL: canary" if "leakme" in repr(dict(os.environ)) else "HELD: no canary", sorted(os.environ))
