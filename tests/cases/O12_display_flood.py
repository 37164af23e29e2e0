# O12: displays without end: so many and no more, told to the program, and there is still room for its end
# expect: error
# raises: RuntimeError
for i in range(100_000):
    display(i)
