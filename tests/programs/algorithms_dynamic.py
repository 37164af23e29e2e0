from functools import cache


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


@cache
def ways(amount, coins=(1, 2, 5, 10, 20, 50, 100, 200)):
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[-1], coins) + ways(amount, coins[:-1])


def knapsack(items, capacity):
    best = [(0, ())] * (capacity + 1)
    for name, weight, value in items:
        for c in range(capacity, weight - 1, -1):
            best[c] = max(best[c], (best[c - weight][0] + value, best[c - weight][1] + (name,)))
    return best[capacity]


def lcs(a, b):
    @cache
    def go(i, j):
        if i == len(a) or j == len(b):
            return ""
        if a[i] == b[j]:
            return a[i] + go(i + 1, j + 1)
        return max(go(i + 1, j), go(i, j + 1), key=len)
    return go(0, 0)


def queens(n, row=0, columns=(), found=None):
    found = [] if found is None else found
    if row == n:
        found.append(columns)
    for c in range(n):
        if all(c != k and abs(c - k) != row - r for r, k in enumerate(columns)):
            queens(n, row + 1, columns + (c,), found)
    return found


print(edit_distance("kitten", "sitting"), edit_distance("", "abc"), ways(200), knapsack([("a", 3, 4), ("b", 4, 5), ("c", 2, 3)], 6))
print(lcs("AGGTABQ", "GXTXAYB"), len(queens(6)), queens(5)[0])
board = queens(8)[0]
print("\n".join("".join("Q" if c == k else "." for c in range(8)) for k in board))
