import unicodedata

words = ["café", "cafe\u0301", "Straße", "İstanbul", "ﬁn", "日本語", "👩‍👩‍👧", "𝔘nicode", "\u0627\u0644", "ǆ"]
for word in words:
    print(ascii(word), len(word), ascii(word.upper()), ascii(word.lower()), ascii(word.casefold()), ascii(word.title()))
    print("  ", [len(unicodedata.normalize(form, word)) for form in ("NFC", "NFD", "NFKC", "NFKD")], word.encode("utf-8").hex(), len(word.encode("utf-16-le")))
for char in "aÄ1٣½ \u00a0\u200d\u0301€":
    print(ascii(char), unicodedata.name(char, "?"), unicodedata.category(char), unicodedata.combining(char), unicodedata.bidirectional(char), unicodedata.numeric(char, None))
print(unicodedata.lookup("SNOWMAN"), "\N{GREEK SMALL LETTER ALPHA}", chr(0x1F600), ord("€"), hex(ord("😀")))
print("".join(c for c in unicodedata.normalize("NFD", "àéîõü") if not unicodedata.combining(c)))
print(sorted(["zebra", "Äpfel", "apple", "éclair", "Zoo"]), sorted(["b", "A", "c"], key=str.casefold))
print("\ud800".encode("utf-8", "surrogatepass"), "\udcff".encode("utf-8", "surrogateescape"))
for codec, errors in [("ascii", "strict"), ("ascii", "replace"), ("ascii", "xmlcharrefreplace"), ("latin-1", "backslashreplace"), ("ascii", "namereplace")]:
    try:
        print(codec, errors, "naïve €".encode(codec, errors))
    except UnicodeEncodeError as error:
        print(error)
print(b"\xff\xfeabc".decode("utf-8", "replace"), b"abc\x80".decode("latin-1"), ascii(b"a\x80".decode("utf-8", "surrogateescape")))
