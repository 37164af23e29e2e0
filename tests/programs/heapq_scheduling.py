import heapq
import bisect
from dataclasses import dataclass, field

heap = []
for priority, job in [(5, "write"), (1, "plan"), (3, "code"), (1, "argue")]:
    heapq.heappush(heap, (priority, job))
print(heap, [heapq.heappop(heap) for _ in range(len(heap))])
numbers = [9, 4, 7, 1, 8, 2]
heapq.heapify(numbers)
print(numbers, heapq.heappushpop(numbers, 0), heapq.heapreplace(numbers, 10), heapq.nlargest(2, numbers), heapq.nsmallest(2, numbers, key=lambda n: -n), list(heapq.merge([1, 4, 9], [2, 3], [5])))


@dataclass(order=True)
class Task:
    due: int
    name: str = field(compare=False)


tasks = [Task(3, "c"), Task(1, "a"), Task(2, "b")]
heapq.heapify(tasks)
print(heapq.heappop(tasks).name, tasks)
GRAPH = {"A": {"B": 7, "C": 9, "F": 14}, "B": {"C": 10, "D": 15}, "C": {"D": 11, "F": 2}, "D": {"E": 6}, "F": {"E": 9}, "E": {}}


def dijkstra(start):
    distance, queue, before = {start: 0}, [(0, start)], {}
    while queue:
        d, node = heapq.heappop(queue)
        if d > distance[node]:
            continue
        for other, weight in GRAPH[node].items():
            if d + weight < distance.get(other, float("inf")):
                distance[other], before[other] = d + weight, node
                heapq.heappush(queue, (d + weight, other))
    return distance, before


distance, before = dijkstra("A")
path = ["E"]
while path[-1] != "A":
    path.append(before[path[-1]])
print(distance, path[::-1])
grades = [60, 70, 80, 90]
print(["FDCBA"[bisect.bisect(grades, score)] for score in (33, 99, 77, 70, 89, 90, 100)], bisect.bisect_left(grades, 70), bisect.bisect_right(grades, 70), bisect.bisect([(1, "a"), (3, "b")], 2, key=lambda t: t[0]))
bisect.insort(grades, 75)
print(grades)
for bad in (lambda: heapq.heappop([]), lambda: heapq.heappush([(1, {})], (1, {})), lambda: bisect.bisect([1], "a")):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)
