from collections import deque
import heapq

maze = ["S.#.....", ".#..##.#", "...#...E", ".#...#.."]
start = next((r, c) for r, row in enumerate(maze) for c, x in enumerate(row) if x == "S")
goal = next((r, c) for r, row in enumerate(maze) for c, x in enumerate(row) if x == "E")

def neighbours(cell):
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        r, c = cell[0] + dr, cell[1] + dc
        if 0 <= r < len(maze) and 0 <= c < len(maze[0]) and maze[r][c] != "#":
            yield r, c

def bfs():
    queue, seen = deque([(start, 0)]), {start}
    while queue:
        cell, steps = queue.popleft()
        if cell == goal:
            return steps
        for n in neighbours(cell):
            if n not in seen:
                seen.add(n)
                queue.append((n, steps + 1))

def dijkstra(graph, source):
    distance, heap = {source: 0}, [(0, source)]
    while heap:
        d, node = heapq.heappop(heap)
        if d > distance[node]:
            continue
        for to, weight in graph[node].items():
            if d + weight < distance.get(to, float("inf")):
                distance[to] = d + weight
                heapq.heappush(heap, (d + weight, to))
    return distance

print(bfs(), dijkstra({"a": {"b": 7, "c": 3}, "b": {}, "c": {"b": 1, "d": 2}, "d": {"b": 2}}, "a"))
