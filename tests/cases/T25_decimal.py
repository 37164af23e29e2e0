# T25: decimal with a precision of millions
# expect: timeout | error | memory
import decimal
decimal.getcontext().prec = 2_000_000
print("FAIL: computed", len(str(decimal.Decimal(2).sqrt().exp())))
