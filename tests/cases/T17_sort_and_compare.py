# T17: a sort whose comparisons never end
# expect: timeout
class Slow:
    def __lt__(self, other):
        while True:
            pass
sorted([Slow(), Slow()])
print("FAIL: sorted")
