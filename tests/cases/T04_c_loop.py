# T04: a loop that never leaves C
# expect: timeout
import itertools
any(itertools.repeat(False))
print("FAIL: finished")
