import re
from collections import Counter

LOG = """127.0.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326
10.0.0.5 - bob [10/Oct/2023:13:56:01 +0000] "POST /login HTTP/1.1" 302 -
10.0.0.5 - bob [10/Oct/2023:13:57:12 +0000] "GET /img/logo.png HTTP/1.1" 404 128
this line is broken
127.0.0.1 - - [11/Oct/2023:00:00:00 +0000] "GET /index.html?x=1 HTTP/1.0" 200 99"""
pattern = re.compile(r"""
    (?P<ip>\d+(?:\.\d+){3})\s\S+\s(?P<user>\S+)\s
    \[(?P<when>[^\]]+)\]\s
    "(?P<method>[A-Z]+)\s(?P<path>[^\s?]+)(?:\?(?P<query>\S*))?\s[^"]*"\s
    (?P<status>\d{3})\s(?P<size>\d+|-)
""", re.VERBOSE)
hits = Counter()
for number, line in enumerate(LOG.splitlines(), 1):
    match = pattern.fullmatch(line)
    if not match:
        print(f"line {number} skipped: {line!r}")
        continue
    fields = match.groupdict()
    hits[fields["path"], int(fields["status"])] += 0 if fields["size"] == "-" else int(fields["size"])
    print(fields["ip"], match["user"], match.group("method", "path", "query"), match.span("status"), match.lastgroup)
for key, size in hits.most_common():
    print(key, size)
print(pattern.groups, dict(pattern.groupindex), pattern.flags & re.VERBOSE == re.VERBOSE)
