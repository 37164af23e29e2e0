# T18: arithmetic on numbers of a hundred million digits
# expect: timeout | memory | error
x = 3 ** 10 ** 8
print("FAIL: computed" if x % 7 == 100 else "check: computed")
