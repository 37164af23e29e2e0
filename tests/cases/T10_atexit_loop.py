# T10: exit handlers are inside the wall limit, and the output is kept
# expect: ok
# prints: done
import atexit
@atexit.register
def forever():
    while True:
        pass
print("done")
