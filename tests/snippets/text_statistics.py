from collections import Counter
import string
import unicodedata

text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness. Café, naïve, résumé!"""
words = [w.strip(string.punctuation).lower() for w in text.split()]
counts = Counter(words)
for word, n in counts.most_common(3):
    print(f"{word:<8}{'#' * n} {n}")
plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
print(plain.split("\n")[1][-21:], len(set(words)), max(words, key=len))
print(sum(c in "aeiou" for c in text.lower()), text.count("the"), text.title()[:15], "".join(sorted(set("hello"))))
print({w: len(w) for w in sorted(counts) if len(w) > 5}, "racecar" == "racecar"[::-1])
