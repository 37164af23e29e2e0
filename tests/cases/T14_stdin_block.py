# T14: standard input is at its end, never the host's
# expect: ok
# prints: HELD: EOF
try:
    s = input("password: ")
    print("FAIL: read", len(s), "chars from the host's stdin")
except EOFError:
    print("HELD: EOF")
