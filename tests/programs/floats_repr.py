for value in (0.1, 1 / 3, 1e16, 123456789012345680.0, 1e-5, 0.0001, 5e-324, 1.7976931348623157e308, 2.5, -0.0, 1e22, 1e23, 9007199254740993.0):
    print(repr(value), value.hex(), value.is_integer(), value.as_integer_ratio() if abs(value) < 1e10 and value > 1e-10 else "", f"{value:.17g}")
print(float("1e3"), float(" inf "), float("-Infinity"), float("nan") == float("nan"), float("1_0.5"), float.fromhex("0x1.8p1"), float("0x10" if False else "16"))
print(0.1 + 0.2, 0.1 * 3, 1.1 + 2.2, 1e16 + 1, 0.1 + 0.2 == 0.3, round(0.5), round(1.5), round(2.5), round(1.005, 2), round(1e300, -299), round(123.456, -1))
print(7.0 // 2, -7.5 // 2, 7.5 % 2, -7.5 % 2, divmod(7.5, -2), 1e308 * 10, 3.0 == 3, hash(3.0) == hash(3), min(0.0, -0.0), 2.0 ** 0.5, int(1e20), float(10 ** 20))
print([n / 10 for n in range(12)], sum([0.1] * 3), max(float("nan"), 1), sorted([3.5, 1, 2.25, -1.0]))
for bad in ("float('one')", "float(None)", "1.0 / 0", "float(10 ** 400)", "round(float('nan'))", "1.5 << 1", "range(1.5)", "'x' * 1.5"):
    try:
        eval(bad)
    except ZeroDivisionError:
        print(bad, "-> ZeroDivisionError")
    except Exception as error:
        print(bad, "->", type(error).__name__, error)
