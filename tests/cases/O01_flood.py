# O01: output without end is counted and dropped
# expect: timeout
# dropped: stdout
while True:
    print("x" * 4096)
