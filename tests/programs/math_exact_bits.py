# The digits of common functions to the last bit, as a program that prints floats shows them.
import math

for x in (0.1, 0.7, 1.0, 1.5, 2.0, 3.0, 7.3, 10.0, 33.3, 100.0, 1234.5):
    print(x, math.sin(x), math.cos(x), math.exp(-x), math.log(x), math.sqrt(x))
print(math.exp(1), math.exp(10), math.log(10), math.log2(10), math.log10(2), 2 ** 0.5, 10 ** -3, 10 ** 0.3, math.pi ** 2)
print(math.fsum(1 / n for n in range(1, 1000)), math.prod(1 + 1 / n for n in range(1, 50)))
principal, rate = 1000.0, 0.035
for year in range(1, 6):
    principal *= 1 + rate
    print(year, principal, round(principal, 2))
print(1000 * (1 + 0.05 / 12) ** 120, math.dist((1.1, 2.2), (3.3, 4.4)), math.tan(1), math.atan(0.5), math.asin(0.3), math.acos(0.3))
