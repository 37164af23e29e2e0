# M05: small objects until there is no more: a MemoryError, or a clean end
# expect: error | memory | timeout
a = []
while True:
    a.append({"k": [object(), str(len(a))]})
