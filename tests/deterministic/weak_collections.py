import weakref
class K:
    def __init__(self, n): self.n = n
keys = [K(i) for i in range(8)]
d = weakref.WeakKeyDictionary({k: k.n for k in keys})
s = {k for k in keys}
print([k.n for k in s], list(d.values()), [k.n for k in sorted(keys, key=id)])
