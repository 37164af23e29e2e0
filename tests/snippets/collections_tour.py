import bisect
import heapq
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

words = "the cat and the dog and the bird".split()
print(Counter(words).most_common(2), Counter("aab") - Counter("ab"))
groups = defaultdict(list)
for word in words:
    groups[len(word)].append(word)
print(dict(groups))
window = deque(maxlen=3)
for n in range(6):
    window.append(n)
window.rotate(1)
print(window)
Point = namedtuple("Point", "x y", defaults=[0])
print(Point(3)._replace(y=4), ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
heap = [5, 1, 8, 3]
heapq.heapify(heap)
heapq.heappush(heap, 0)
print([heapq.heappop(heap) for _ in range(3)], heapq.nlargest(2, [4, 9, 7]))
grades = [60, 70, 80, 90]
print(["FDCBA"[bisect.bisect(grades, score)] for score in (55, 77, 90)])
order = OrderedDict(a=1, b=2)
order.move_to_end("a")
print(list(order))
