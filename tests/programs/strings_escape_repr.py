samples = ["plain", "it's", 'say "hi"', "both ' and \"", "tab\tnew\nret\rnul\0", "\x7f\x80\xa0\xad", "\u200b\u2028", "\ue000", "日本", "\U0001f600", "\ud83d", "back\\slash", ""]
for sample in samples:
    print(repr(sample), ascii(sample), sample.__repr__() == repr(sample))
for sample in (b"plain", b"it's", b'"', b"\x00\xff\n\\", bytearray(b"xy"), memoryview(b"ab").tobytes()):
    print(repr(sample))
print(repr([samples[1], {"k": b"v"}, ("one",), {1}, frozenset(), range(3), slice(1, None, 2), Ellipsis, NotImplemented, None]))
print(eval(repr(samples[4])) == samples[4], r"\n\t", rb"\x", "a" "b" 'c', "\x41\u0042\103\N{DIGIT ONE}")
recursive = [1]
recursive.append(recursive)
mapping = {}
mapping["self"] = mapping
print(recursive, mapping)
print(str(b"abc"), str(b"abc", "ascii"), repr(float("1e16")), repr(1e15), repr(-0.0), 1e100, 5e-324, complex(0, -0.0))
