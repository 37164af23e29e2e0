from decimal import ROUND_HALF_UP, Decimal, getcontext, localcontext
from fractions import Fraction

print(0.1 + 0.2, Decimal("0.1") + Decimal("0.2"), Fraction(1, 3) + Fraction(1, 6))
getcontext().prec = 30
print(Decimal(2).sqrt(), Decimal(1) / 7)
print(Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), f"{Decimal('1234567.5'):,.2f}")
with localcontext() as context:
    context.prec = 5
    print(Decimal(22) / 7, Decimal("1e3").normalize())
print(Fraction("0.125"), Fraction(3.25), Fraction(355, 113).limit_denominator(10), float(Fraction(1, 8)))
total = sum(Decimal(price) * qty for price, qty in (("19.99", 3), ("0.01", 2)))
print(total, int(total), Decimal("-0").is_signed(), Decimal("NaN").is_nan())
