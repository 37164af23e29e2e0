from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation, getcontext, localcontext

print(Decimal("0.1") + Decimal("0.2"), Decimal(0.1), Decimal("1.10") * 3, Decimal(7) / Decimal(3), Decimal("1E+3") + 1)
cent = Decimal("0.01")
for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN, ROUND_CEILING):
    print(mode, [str(Decimal(text).quantize(cent, rounding=mode)) for text in ("2.675", "2.665", "-2.675", "1.005")])
prices = [Decimal("19.99"), Decimal("5.49"), Decimal("100")]
total = sum(prices)
print(total, total * Decimal("1.0825"), (total * Decimal("0.0825")).quantize(cent), round(total / 3, 2), f"{total:,.3f} {Decimal('1234567.891'):,} {Decimal('0.000001'):e} {Decimal('0.25'):%}")
with localcontext() as context:
    context.prec = 50
    print(Decimal(2).sqrt(), Decimal(1).exp(), Decimal(10).ln(), Decimal(2) ** Decimal("0.5"))
print(getcontext().prec, Decimal("123.4500").normalize(), Decimal("-0"), Decimal("NaN"), Decimal("Infinity") > 1, Decimal("3.14").as_tuple(), Decimal("12.5").as_integer_ratio())
print(Decimal("7") // 2, Decimal("-7") % 3, divmod(Decimal("7.5"), 2), int(Decimal("9.99")), float(Decimal("0.1")), Decimal("1.0") == 1, hash(Decimal("1.5")) == hash(1.5), max(prices), Decimal("1e5").to_eng_string(), Decimal(255).logb())
for bad in ("Decimal('abc')", "Decimal(1) / 0", "Decimal(0) / 0", "Decimal(1) + 1.5", "Decimal(-1).sqrt()", "Decimal('1e999999') * 10 ** 10"):
    try:
        print(eval(bad))
    except Exception as error:
        print(bad, "->", type(error).__name__)
print(repr(Decimal("1.50")), Decimal.from_float(0.5), Decimal("1_000.5"), Decimal(" 3.0 "), Decimal("2").compare(3), Decimal("5").copy_sign(Decimal("-1")), Decimal("1.25").quantize(Decimal("0.1")))
