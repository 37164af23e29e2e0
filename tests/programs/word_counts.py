import re
import string
from collections import Counter, defaultdict

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief... "It was", he said -- it wasn't!"""
words = re.findall(r"[a-z']+", TEXT.lower())
counts = Counter(words)
print(len(words), len(counts), counts.most_common(6))
for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]:
    print(f"{word:<8}{n:>3} {n / len(words):6.1%} {'*' * n}")
by_length = defaultdict(set)
for word in words:
    by_length[len(word)].add(word)
print({length: sorted(group) for length, group in sorted(by_length.items())})
print(Counter(zip(words, words[1:])).most_common(2), sum(map(len, words)) / len(words))
clean = TEXT.translate(str.maketrans("", "", string.punctuation))
print(clean.split()[:6], len(TEXT.splitlines()), [len(s.split()) for s in re.split(r"[,.!]+\s*", TEXT) if s])
vowels = {v: TEXT.lower().count(v) for v in "aeiou"}
print(vowels, "".join(sorted(set(TEXT.lower()) & set(string.ascii_lowercase))))
index = defaultdict(list)
for number, line in enumerate(TEXT.splitlines(), 1):
    for word in set(re.findall(r"\w+", line.lower())):
        index[word].append(number)
print(index["times"], index["said"], sorted(w for w, lines in index.items() if len(lines) == 2))
print(" ".join(w[::-1] for w in TEXT.split()[:5]), TEXT[:20].title(), max(words, key=len))
