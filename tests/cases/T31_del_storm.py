# T31: a hundred thousand finalizers that print and sleep, at the end of the interpreter
# expect: ok
# prints: made
import atexit, time
class Storm:
    def __del__(self):
        time.sleep(0.01)
        print("x" * 1000)
storm = [Storm() for _ in range(100_000)]
atexit.register(storm.clear)
print("made", len(storm))
