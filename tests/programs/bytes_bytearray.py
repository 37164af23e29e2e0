data = b"Hello, \xe4\xb8\x96\xe7\x95\x8c\n"
print(data, len(data), data[0], data[1:4], data.decode(), data.hex(" ", 4), bytes.fromhex("48 65 6c6c 6f"), bytes(3), bytes([65, 66]), bytes("é", "latin-1"))
print(data.upper(), data.split(b", "), data.find(b"\x96"), data.replace(b"l", b"L"), data.startswith((b"x", b"He")), b"-".join([b"a", b"b"]), b"a" in data, 72 in data, b"abc".translate(None, b"b"))
b = bytearray(b"abc")
b.append(100)
b += b"ef"
b[0:2] = b"ZZZ"
del b[-1]
b.insert(0, 33)
print(b, b.pop(), b.count(b"Z"), bytes(b), b == b"!ZZZcd"[:5], b.find(90), bytearray(b"x") * 3, b.isalnum())
print(b"%d-%s-%05.1f-%x" % (5, b"x", 2.5, 255), b"abc" < b"abd", sorted([b"b", b"a"]), hash(b"a") == hash(bytes(b"a")), b"tab\t|".expandtabs(4), b"abc".center(7, b"."))
print(int.from_bytes(b"\x01\x02", "little"), list(b"\x00\xff"), max(b"az"), bytes(range(250, 256)), b"".join(bytes([n]) for n in b"xyz"), b"x".isdigit(), bytes(reversed(b"abc")))
for bad in ("bytes([256])", "b'a' + 'b'", "b'abc'.decode('ascii') + b''", "b'\\xff'.decode()", "bytes('x')", "b'abc'[5]", "b''.join(['a'])", "bytes(-1)", "b'a'.find('a')"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:80])
