# O17: a cell that closes, detaches or replaces its streams: the next one prints
# expect: ok | error
import sys
sys.stdout.detach()
sys.stderr.close()
# --- turn ---
# expect: ok
x = 1
# --- turn ---
# expect: ok | error
import sys
sys.stdout = open("/work/out", "w")
print("to a file")
# --- turn ---
# expect: ok | error
import sys
class Evil:
    encoding = property(lambda self: 1 / 0)
    def __getattr__(self, name):
        raise SystemExit(3)
sys.stdout = sys.stderr = sys.__stdout__ = Evil()
# --- turn ---
# expect: ok | error
import sys
sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = None
