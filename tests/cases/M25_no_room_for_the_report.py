# M25: memory filled to the last byte, so that even the error has no room; the next cell has
# expect: error | memory
kept = []
size = 1 << 26
while size > 1:
    try:
        kept.append(bytearray(size))
    except MemoryError:
        size //= 2
more = []
while True:
    more.append([more])
# --- turn ---
# expect: ok | error | memory
print("after the filling")
