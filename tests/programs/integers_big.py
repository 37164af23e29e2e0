n = 2 ** 200 + 1
print(n, n.bit_length(), n.bit_count(), hex(n), n % 97, n // 10 ** 50, pow(3, n, 1_000_007), pow(3, -1, 11), -n >> 3, n & 0xFF, ~n)
print((255).to_bytes(2, "big"), (1 << 40).to_bytes(6, "little"), int.from_bytes(b"\x01\x00", "big"), int.from_bytes(b"\xff", "big", signed=True), (-1).to_bytes(2, "big", signed=True))
print(int("ff", 16), int("0b101", 0), int("z", 36), int("1_000"), int(" 12 "), int("-0"), int(3.99), int(-3.99), int("١٢"), bin(-10), oct(64), 0xFF, 0o17, 0b11)
a, b = 0, 1
for _ in range(300):
    a, b = b, a + b
print(a, str(a)[::-1][:10], sum(map(int, str(a))), len(str(3 ** 5000)))
print(divmod(-7, 2), divmod(7, -2), -7 // 2, -7 % 2, 7 % -3, 2 ** -1, 0 ** 0, 10 ** 18 * 10 ** 18, round(12345, -2), round(15, -1), round(25, -1), (5).as_integer_ratio(), True + True)
for bad in ("int('9' * 5000)", "str(10 ** 5000)", "1 << -1", "pow(2, -1, 4)", "(300).to_bytes(1, 'big')", "int('0x1g', 16)", "int('08', 0)", "int([])", "int('1.0')"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:64])


def primes(limit):
    sieve = bytearray([1]) * (limit + 1)
    sieve[:2] = b"\0\0"
    for p in range(2, int(limit ** 0.5) + 1):
        if sieve[p]:
            sieve[p * p::p] = bytes(len(range(p * p, limit + 1, p)))
    return [i for i, flag in enumerate(sieve) if flag]


found = primes(10_000)
print(len(found), found[-3:], sum(found))
