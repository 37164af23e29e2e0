# M03: a text that doubles
# expect: error
# raises: MemoryError
s = "x"
while True:
    s += s
