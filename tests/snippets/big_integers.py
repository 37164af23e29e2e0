import math
import sys

print(2 ** 200, len(str(math.factorial(500))), math.comb(100, 50))
print(pow(3, 10 ** 9, 10 ** 9 + 7), math.isqrt(10 ** 40), math.gcd(2 ** 64 - 1, 3 ** 20), pow(7, -1, 26))
print((10 ** 50) // (3 ** 30), -7 // 2, -7 % 3, divmod(-7, 2), (2 ** 70).bit_length(), bin(37), int("zz", 36))
print(sum(int(d) for d in str(2 ** 1000)), hex(2 ** 64 - 1), 1e308 * 10, math.inf - math.inf != 0)
try:
    str(10 ** 5000)
except ValueError as e:
    print(e)
print(sys.getsizeof(1) < sys.getsizeof(2 ** 100), math.prod(range(1, 11)), round(2.5), round(-1234, -2))
