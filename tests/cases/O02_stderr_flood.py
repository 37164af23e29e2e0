# O02: floods on stderr and on both at once, without ends of line
# expect: ok
# dropped: stderr
# dropped: stdout
# prints: before
import os, sys
print("before")
for _ in range(100):
    sys.stderr.write("e" * 100_000)
    os.write(1, b"o" * 100_000)
