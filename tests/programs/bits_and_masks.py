def bits(n, width=8):
    return format(n & (1 << width) - 1, f"0{width}b")


for a, b in ((0b1100, 0b1010), (-1, 1), (255, 16)):
    print(bits(a), bits(b), bits(a & b), bits(a | b), bits(a ^ b), bits(~a), bits(a << 2), a >> 1)
print([n for n in range(40) if n and n & n - 1 == 0], (37).bit_length(), bin(-5), (-5) & 0xF, 1 << 70, -1 >> 100)


def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


print([popcount(n) for n in (0, 1, 255, 2 ** 64 - 1)], [n ^ n >> 1 for n in range(8)], [int(bits(n, 4)[::-1], 2) for n in range(16)])
READ, WRITE, EXECUTE = 4, 2, 1
mode = READ | WRITE
print(mode, bool(mode & EXECUTE), mode & ~WRITE, mode ^ READ, oct(0o755), f"{0o644:09b}", "".join(c if 0o754 >> 8 - i & 1 else "-" for i, c in enumerate("rwxrwxrwx")))


def crc8(data, poly=0x07):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ poly if crc & 0x80 else crc << 1) & 0xFF
    return crc


class Lfsr:
    def __init__(self, seed):
        self.state = seed

    def __iter__(self):
        return self

    def __next__(self):
        bit = (self.state ^ self.state >> 2 ^ self.state >> 3 ^ self.state >> 5) & 1
        self.state = self.state >> 1 | bit << 15
        return self.state


print(hex(crc8(b"123456789")), [hex(next(Lfsr(0xACE1))) for _ in range(1)], [hex(n) for n, _ in zip(Lfsr(0xACE1), range(4))])
subsets = [[c for i, c in enumerate("abc") if mask >> i & 1] for mask in range(8)]
print(subsets, sum(1 << i for i in (0, 3, 5)), int.from_bytes(b"\x12\x34", "little") ^ 0xFFFF, ~0, 5 & 3 == 1)
ip = "192.168.1.10"
n = int.from_bytes(map(int, ip.split(".")), "big") if False else sum(int(p) << 24 - 8 * i for i, p in enumerate(ip.split(".")))
print(n, n & 0xFFFFFF00, ".".join(str(n >> s & 255) for s in (24, 16, 8, 0)))
