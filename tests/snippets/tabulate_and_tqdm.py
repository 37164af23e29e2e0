import sys
from tabulate import tabulate
from tqdm import tqdm

rows = [["Alice", 24, 1.5], ["Bob", 19, 22.25]]
print(tabulate(rows, headers=["name", "age", "score"], tablefmt="grid"))
print(tabulate({"a": [1, 2], "b": ["x", "y"]}, headers="keys", tablefmt="github"))
total = 0
for n in tqdm(range(100), desc="adding", file=sys.stderr, disable=True):
    total += n
print(total, sum(1 for _ in tqdm([1, 2, 3], leave=False)))
