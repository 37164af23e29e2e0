import array
import struct
from io import BytesIO, StringIO

packed = struct.pack("<IhBf", 70000, -5, 255, 1.5)
print(packed, struct.unpack("<IhBf", packed), struct.calcsize("<IhBf"))
data = bytearray(b"hello world")
data[0:5] = b"HELLO"
print(data, data.find(b"w"), bytes([72, 105]).decode(), b"a,b".split(b","), b"\xe2\x82\xac".decode(), (1024).to_bytes(2, "big"))
view = memoryview(data)[6:]
print(view.tobytes(), len(view), bytes.fromhex("dead beef").hex("-"))
numbers = array.array("i", [1, 2, 3])
numbers.extend([4])
print(numbers.tolist(), numbers.itemsize)
text = StringIO("line 1\nline 2\n")
print([line.strip() for line in text], BytesIO(b"abcdef").read(3))
for name, number in struct.iter_unpack("2sH", b"aa\x01\x00bb\x02\x00"):
    print(name, number)
