import re

print(re.sub(r"(\w+)@(\w+)\.com", r"\2 at \1", "ann@site.com, bob@corp.com"))
print(re.sub(r"\d+", lambda m: str(int(m.group()) * 2), "1 apple, 20 pears"), re.subn("a", "b", "banana", count=2))
print(re.sub(r"(?P<first>\w)(?P<rest>\w*)", r"\g<rest>\g<first>ay", "pig latin"), re.sub("x*", "-", "abxd"))
print(re.split(r"[,;\s]+", "a, b;c  d"), re.split(r"(\d)", "a1b2c"), re.split("", "abc"), re.split(r"\s", "a b c", maxsplit=1))
print(re.findall(r"(\w)=(\d)", "a=1 b=2"), re.findall(r"\b\w{4}\b", "this is some text"), re.findall("", "ab"))
print([(m.start(), m.group(), m.end()) for m in re.finditer(r"[aeiou]+", "queueing")])
print(re.match("b", "abc"), re.search("b", "abc"), re.fullmatch("a.c", "a\nc", re.S) is not None, re.escape("a.b*c [d]"))
print(re.findall(r"(?i)python", "Python PYTHON python"), re.findall(r"^\w", "a\nb\nc", re.M), re.findall(r"(?<=\$)\d+(?!\d*%)", "$10 $20% $30"))
print(re.sub(r"(?<!^)(?=[A-Z])", "_", "camelCaseStringHere").lower(), re.findall(r"a+?", "aaa"), re.findall(r"a++b|a*+", "aaab"))
print(re.search(r"(a)(b)?(c)", "ac").groups(), re.search(r"(a)(b)?", "a").groups("none"), re.search(r"(?P<y>\d{4})-(?P<m>\d\d)", "on 2024-05-01").expand(r"\g<m>/\g<y>"))
print(re.findall(r"[^\W\d_]+", "naïve café_1 日本"), re.findall(r"\w+", "naïve café", re.A), re.findall(rb"\d", b"1a2"))
print(re.search(r"(\w+) \1", "the the end").group(), re.sub(r"(?m)^\s*#.*\n?", "", "x = 1\n# no\ny = 2\n"))
for bad in ("(", "[a", "*a", r"(?P<x>a)(?P<x>b)", r"\1", "a{3,1}", "(?z)"):
    try:
        re.compile(bad)
    except re.error as error:
        print(repr(bad), error.msg, error.pos)
