from fractions import Fraction
from decimal import Decimal
import math

print(Fraction(3, 6), Fraction("0.125"), Fraction(0.5), Fraction("-7/3"), Fraction(1, 3) + Fraction(1, 6), Fraction(2, 3) ** -2, repr(Fraction(1, 3)))
print(Fraction(math.pi).limit_denominator(1000), Fraction(22, 7) > math.pi, float(Fraction(1, 3)), round(Fraction(7, 3)), round(Fraction(22, 7), 2), math.floor(Fraction(-1, 2)), Fraction(7, 2) // 1, Fraction(7, 2) % 2)
print(sum(Fraction(1, n) for n in range(1, 21)), Fraction(Decimal("0.1")), Fraction(1, 2) + 1, Fraction(1, 2) + 0.25, Fraction(1, 2) == 0.5, hash(Fraction(1, 2)) == hash(0.5))
print(Fraction(10, 4).numerator, Fraction(3).denominator, sorted([Fraction(1, 2), 0.3, Fraction(1, 3)]), (0.75).as_integer_ratio())


def egyptian(fraction):
    while fraction:
        unit = Fraction(1, math.ceil(1 / fraction))
        yield unit
        fraction -= unit


print(*egyptian(Fraction(7, 15)), sep=" + ")
for bad in ("Fraction(1, 0)", "Fraction('x')", "Fraction(1.5, 2)"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, error)
