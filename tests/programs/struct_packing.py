import struct

record = struct.Struct("<HIf10s?")
packed = record.pack(7, 1 << 20, 1.5, b"name", True)
print(packed.hex(), record.size, record.unpack(packed), struct.calcsize("!bhiq"), struct.pack(">hq", -2, 5).hex())
print(struct.unpack("<3B", b"\x01\x02\x03"), struct.pack("!d", 3.14).hex(), struct.unpack("<e", struct.pack("<e", 0.333))[0], list(struct.iter_unpack("<H", b"\x01\0\x02\0")))
buffer = bytearray(8)
struct.pack_into("<I", buffer, 2, 0xDEADBEEF)
print(buffer.hex(), struct.unpack_from("<H", buffer, 2), struct.pack("5s", b"toolongtext"), struct.pack("3p", b"abc"), struct.pack("<bxB", 1, 2))
for bad in ("struct.unpack('<I', b'abc')", "struct.pack('i', 'x')", "struct.pack('z', 1)", "struct.pack('2i', 1)", "struct.pack('s', 'text')"):
    try:
        eval(bad)
    except struct.error as error:
        print(bad, "->", error)


def bmp_header(width, height):
    size = 54 + width * height * 3
    return struct.pack("<2sIHHIIiiHHIIiiII", b"BM", size, 0, 0, 54, 40, width, height, 1, 24, 0, size - 54, 2835, 2835, 0, 0)


print(len(bmp_header(2, 2)), bmp_header(2, 2).hex())
