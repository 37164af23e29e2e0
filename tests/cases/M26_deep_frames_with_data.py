# M26: recursion in which each frame holds a mebibyte
# expect: error | memory
# raises: MemoryError | RecursionError
def f(n):
    data = bytearray(1 << 20)
    return f(n + 1) + len(data)
f(0)
