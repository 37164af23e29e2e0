# S26: limits of the interpreter set so low that nothing should run: the next cell does
# expect: ok | error
import gc, sys, threading, warnings
gc.disable(), gc.set_threshold(1)
warnings.simplefilter("error")
sys.setswitchinterval(1e-9)
sys.set_int_max_str_digits(640)
sys.setrecursionlimit(30)
# --- turn ---
# expect: ok
# prints: runs
def f(n):
    return n and f(n - 1)
print("runs", f(20))
