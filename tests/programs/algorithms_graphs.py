from collections import deque
import graphlib

MAZE = """#########
#S..#...#
#.#.#.#.#
#.#...#E#
#########""".splitlines()


def solve(maze):
    spots = {c: (y, x) for y, row in enumerate(maze) for x, c in enumerate(row)}
    queue, came = deque([spots["S"]]), {spots["S"]: None}
    while queue:
        at = queue.popleft()
        if at == spots["E"]:
            break
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            to = at[0] + dy, at[1] + dx
            if maze[to[0]][to[1]] != "#" and to not in came:
                came[to] = at
                queue.append(to)
    path = []
    while at:
        path.append(at)
        at = came[at]
    return path[::-1]


path = solve(MAZE)
print(len(path) - 1, path)
drawn = [list(row) for row in MAZE]
for y, x in path[1:-1]:
    drawn[y][x] = "*"
print("\n".join(map("".join, drawn)))
sorter = graphlib.TopologicalSorter({"deploy": {"test", "build"}, "test": {"build"}, "build": {"fetch"}})
print(list(sorter.static_order()))
try:
    list(graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())
except graphlib.CycleError as error:
    print(error.args[0], sorted(set(error.args[1])))


def components(edges):
    parent = {}

    def find(x):
        parent.setdefault(x, x)
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in edges:
        parent[find(a)] = find(b)
    groups = {}
    for node in parent:
        groups.setdefault(find(node), []).append(node)
    return sorted(map(sorted, groups.values()))


print(components([(1, 2), (3, 4), (2, 5), (6, 6), (4, 7)]))
