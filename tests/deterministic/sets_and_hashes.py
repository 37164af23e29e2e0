print(hash("abc"), hash(b"abc"), hash(1.5), hash((1, "x")), hash(object()) % 16, hash(None))
print({"pear", "apple", "fig", "kiwi"}, frozenset("hello world"), {object: 1, int: 2, str: 3})
print(sorted({str(i) for i in range(20)}, key=hash), list({1.5, "a", (2, 3), b"x", None}))
