# T20: patterns that are turned into regular expressions with exponential backtracking
# expect: timeout
import fnmatch, re
fnmatch.fnmatch("a" * 40, "*a" * 12 + "b")
re.fullmatch(r"(x+x+)+y", "x" * 60)
print("FAIL: finished")
