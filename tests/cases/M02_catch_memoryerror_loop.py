# M02: catching MemoryError for ever ends at the wall limit, and a refused growth costs the host nothing
# expect: timeout
hoard = []
while True:
    try:
        hoard.append(bytearray(16 << 20))
    except MemoryError:
        pass
