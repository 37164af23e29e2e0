# T01: a loop without end is stopped by the host; no guest-visible interrupt is the means
# expect: timeout
while True:
    pass
