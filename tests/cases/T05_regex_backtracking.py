# T05: exponential backtracking inside _sre, which is C
# expect: timeout
import re
re.match(r"(a|a?)+$", "a" * 64 + "b")
print("FAIL: finished")
