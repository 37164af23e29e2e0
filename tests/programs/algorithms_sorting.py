import random


def merge_sort(items):
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right, out = merge_sort(items[:half]), merge_sort(items[half:]), []
    while left and right:
        out.append((left if left[0] <= right[0] else right).pop(0))
    return out + left + right


def quick_sort(items):
    if not items:
        return []
    pivot, *rest = items
    return quick_sort([x for x in rest if x < pivot]) + [pivot] + quick_sort([x for x in rest if x >= pivot])


def heap_sort(items):
    items = items[:]

    def sift(start, end):
        while (child := 2 * start + 1) < end:
            if child + 1 < end and items[child] < items[child + 1]:
                child += 1
            if items[start] >= items[child]:
                return
            items[start], items[child] = items[child], items[start]
            start = child

    for start in range(len(items) // 2, -1, -1):
        sift(start, len(items))
    for end in range(len(items) - 1, 0, -1):
        items[0], items[end] = items[end], items[0]
        sift(0, end)
    return items


random.seed(2024)
data = [random.randint(-1000, 1000) for _ in range(500)]
print(data[:8], all(sort(data) == sorted(data) for sort in (merge_sort, quick_sort, heap_sort)), merge_sort(data)[:5])
people = [("bob", 30), ("ann", 25), ("cy", 30), ("dan", 25)]
print(sorted(people, key=lambda p: (-p[1], p[0])), sorted(people, key=lambda p: p[1]), sorted("bA aB".split(), key=str.lower))
print(sorted([3, 1, 2], reverse=True), sorted([True, 0, 2.5]), min(people, key=lambda p: p[1]), sorted([[2], [1, 5], []]), sorted({"b": 1, "a": 2}))
try:
    sorted([1, "a", None])
except TypeError as error:
    print(error)
