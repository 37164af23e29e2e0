# T53: every way to read standard input comes to its end at once
# expect: ok
# prints: HELD: read 0
import os, sys, select
print("HELD: read", len(sys.stdin.read()))
print("HELD: os.read", len(os.read(0, 1000)))
print("HELD: lines", len(sys.stdin.readlines()), len(list(open(0, closefd=False))))
try:
    import getpass
    getpass.getpass()
    print("FAIL: read a password")
except Exception as e:
    print("HELD:", type(e).__name__)
