import cmath
import math

z = 3 + 4j
print(z, abs(z), z.conjugate(), z.real, z.imag, z * (1 - 2j), z / 2j, z ** 2, -z, complex("1+2j"), complex(1, -1), 1j ** 2, z == 3 + 4j, hash(2 + 0j) == hash(2))
print([f"{v:.10g}" for v in (cmath.sqrt(-1), cmath.exp(1j * math.pi), cmath.log(-1), cmath.sin(z), cmath.cos(1j), cmath.tan(0.5j), cmath.atanh(0.5))])
print(cmath.phase(-1), cmath.polar(1j), cmath.rect(2, math.pi / 2).imag, cmath.isclose(z, z + 1e-12), cmath.isnan(complex("nan")), cmath.inf, cmath.infj)


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)


print(roots(1, -3, 2)[0], roots(1, 2, 5))


def fft(xs):
    n = len(xs)
    if n == 1:
        return xs
    even, odd = fft(xs[::2]), fft(xs[1::2])
    twiddled = [cmath.exp(-2j * cmath.pi * k / n) * odd[k] for k in range(n // 2)]
    return [e + t for e, t in zip(even, twiddled)] + [e - t for e, t in zip(even, twiddled)]


print([round(abs(v), 9) for v in fft([1, 2, 3, 4, 0, 0, 0, 0])])
for bad in ("1j < 2j", "int(1j)", "1 / 0j", "complex('x')", "math.sqrt(1j)", "1j % 2"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__)
