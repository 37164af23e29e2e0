# T34: exit handlers that register further ones
# expect: ok
# prints: registered
# end: timeout | ok | error
import atexit
def again():
    atexit.register(again)
    atexit.register(lambda: atexit._run_exitfuncs())
    while True:
        try:
            again()
        except RecursionError:
            pass
again_once = atexit.register(again)
print("registered")
