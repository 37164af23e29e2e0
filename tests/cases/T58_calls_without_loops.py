# T58: a tree of calls that passes no loop is stopped as well: a slice's hash is that of its three parts
# expect: timeout
s = 0
for _ in range(60):
    s = slice(s, s, s)
hash(s)
