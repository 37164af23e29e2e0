text = "  The quick brown Fox jumps over the lazy dog  "
print(repr(text.strip()), repr(text.lstrip()), repr(text.rstrip()))
print(text.split(), text.split(" ")[:4], text.strip().rsplit(None, 2))
print(text.title(), text.swapcase(), text.strip().capitalize(), text.casefold())
print("a,b,,c".split(","), "a,b,,c".partition(","), "a,b,,c".rpartition(","), "no".partition("-"))
print("abc".center(11, "*"), "abc".ljust(6, ".") + "|", "abc".rjust(6, ".") + "|", "-42".zfill(7))
print("banana".count("an"), "banana".find("na"), "banana".rfind("na"), "banana".index("n"), "banana".replace("a", "A", 2))
print("line1\nline2\r\nline3\x0bline4\x1cline5\u2028line6".splitlines())
print("tab\tstop\tx".expandtabs(8), "prefix-body".removeprefix("prefix-"), "body.py".removesuffix(".py"))
table = str.maketrans({"a": "4", "e": "3", "o": None})
print("leetcode and more".translate(table), "hello".translate(str.maketrans("el", "ip", "o")))
for word in ("abc", "ABC", "a1", "123", "½", "²", "٣", "", " ", "Ünï", "_x", "class"):
    print(repr(word), word.isalpha(), word.isdigit(), word.isdecimal(), word.isnumeric(), word.isalnum(), word.isidentifier(), word.isupper(), word.isspace(), word.istitle())
print("abc" < "abd", "Z" < "a", "é" > "z", max("hello"), sorted("hello", reverse=True))
print("-".join(str(n) for n in range(5)), "ab" * 3, "abcdef"[::-1], "abcdef"[-3:-1], "abcdef"[::2])
try:
    "abc".index("z")
except ValueError as error:
    print(error)
try:
    "a" + 1
except TypeError as error:
    print(error)
