import re

log = """2024-05-01 12:00:01 ERROR db: timeout after 30s
2024-05-01 12:00:05 INFO web: GET /index.html 200
2024-05-02 08:15:44 ERROR web: GET /missing 404"""
pattern = re.compile(r"^(?P<date>\S+) (?P<time>[\d:]+) (?P<level>[A-Z]+) (?P<source>\w+): (?P<text>.*)$", re.M)
for match in pattern.finditer(log):
    if match["level"] == "ERROR":
        print(match["date"], match["source"], "->", match["text"])
print(re.sub(r"(\w+)@(\w+)\.com", r"\2: \1", "ann@site.com, bob@mail.com"))
print(re.split(r"[,;]\s*", "a, b;c,  d"), re.findall(r"\b\w{5}\b", "these words have five chars"))
print(re.sub(r"\d+", lambda m: str(int(m[0]) * 2), "3 cats and 12 dogs"))
print(re.fullmatch(r"(?i)[a-f0-9]{6}", "C0ffEE") is not None, bool(re.search(r"(?<=\$)\d+", "cost $45")))
try:
    re.compile("(unclosed")
except re.error as e:
    print(e)
