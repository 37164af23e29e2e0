# M01: a request beyond the limit is a MemoryError in the guest
# expect: error
# raises: MemoryError
a = [0] * 10**9
print("FAIL: allocated", len(a))
