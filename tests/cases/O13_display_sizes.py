# O13: displays larger than one may be, and more than all may be
# expect: ok | error
class Big:
    def __init__(self, n):
        self.n = n
    def _repr_html_(self):
        return "x" * self.n
refused = 0
for n in (1 << 20, 3 << 20, 5 << 20, 64 << 20) + (3 << 20,) * 10:
    try:
        display(Big(n))
    except RuntimeError:
        refused += 1
print("refused", refused)
