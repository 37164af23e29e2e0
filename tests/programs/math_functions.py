import math

values = [0.1, 0.5, 1.0, 2.5, 10.0, 100.7, 1e5, 1e-10]
for function in (math.sin, math.cos, math.tan, math.exp, math.log, math.log2, math.log10, math.log1p, math.expm1, math.sqrt, math.cbrt, math.sinh, math.tanh, math.atan, math.asinh, math.erf, math.erfc, math.gamma, math.lgamma):
    row = []
    for value in values:
        try:
            row.append(f"{function(value):.12g}")
        except OverflowError:
            row.append("overflow")
    print(function.__name__, *row)
print(math.factorial(30), math.comb(50, 7), math.perm(10, 3), math.gcd(84, 36, 120), math.lcm(4, 6, 10), math.isqrt(10 ** 20 + 1), math.prod(range(1, 11)))
print(math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), round(-2.5), round(3.5), round(2.675, 2), math.fmod(-7, 3), -7 % 3, math.remainder(7, 4), math.modf(-3.25), math.frexp(10), math.ldexp(0.625, 4))
print(math.hypot(3, 4, 12), math.dist((0, 0), (1, 1)), math.degrees(math.pi), math.radians(90), math.copysign(3, -0.0), math.fsum([0.1] * 10), math.isclose(0.1 + 0.2, 0.3), math.nextafter(1, 2), math.ulp(1.0))
print(math.inf, -math.inf, math.nan, math.isnan(math.nan), math.isinf(-math.inf), math.pi, math.e, math.tau, math.atan2(-1, -1), math.pow(2, 0.5))
for bad in ("math.sqrt(-1)", "math.log(0)", "math.exp(1000)", "math.factorial(-1)", "math.factorial(2.5)", "math.acos(2)", "2.0 ** 10000", "int(math.nan)", "int(math.inf)", "math.isqrt(-1)", "0.0 ** -1", "math.gamma(-1)"):
    try:
        print(eval(bad))
    except Exception as error:
        print(bad, "->", type(error).__name__)
