from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple

c = Counter("abracadabra")
print(c, c.most_common(2), c["z"], c + Counter("abc"), c - Counter("aaab"), c & Counter("aab"), c | Counter("zz"), sum(c.values()), sorted(c.elements())[:4], c.total())
c.subtract("aaaaaaa")
c.update(x=3)
print(c, +c, Counter(a=1) == Counter(a=1, b=0), Counter({"a": 2}) <= Counter("aaa"))
d = deque([1, 2, 3], maxlen=4)
d.append(4)
d.append(5)
d.appendleft(0)
d.rotate(1)
print(d, d.maxlen, d.popleft(), d.pop(), list(d), d.index(2) if 2 in d else None, deque("abc")[1], d + deque([9]))
groups = defaultdict(list)
for word in "apple ant bob cat boat".split():
    groups[word[0]].append(word)
print(groups, dict(groups), groups.get("z"), groups["new"], defaultdict(int, a=1), "zz" in groups)
Point = namedtuple("Point", "x y z", defaults=[0])
p = Point(1, 2)
print(p, p.x, p._asdict(), p._replace(y=9), Point._fields, Point._make([4, 5, 6]), p == (1, 2, 0), Point._field_defaults, *p)
o = OrderedDict(a=1, b=2, c=3)
o.move_to_end("a")
print(list(o.items()), o.popitem(last=False), o == OrderedDict(c=3, a=1), OrderedDict(a=1, b=2) == {"b": 2, "a": 1}, list(reversed(o)))
config = ChainMap({"debug": True}, {"debug": False, "port": 80})
child = config.new_child({"port": 8080})
print(config["debug"], child["port"], dict(child), child.parents["port"], len(child), child)


class Lower(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)


print(Lower({"A": 1, "b": 2}), Lower(X=1)["x"], UserList([1, 2]) + [3])
for bad in ("Point(1)", "Point(1, 2, 3, 4)", "p.x = 5", "namedtuple('T', 'a a')", "namedtuple('T', 'class')", "deque().pop()", "deque([1], maxlen=-1)", "Counter(5)", "config['zz']"):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:60].replace("Point.", ""))
