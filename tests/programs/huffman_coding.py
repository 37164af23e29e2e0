import heapq
from collections import Counter


def tree(text):
    heap = [(n, i, c) for i, (c, n) in enumerate(sorted(Counter(text).items()))]
    heapq.heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a[0] + b[0], number, (a[2], b[2])))
        number += 1
    return heap[0][2]


def codes(node, prefix=""):
    if isinstance(node, str):
        yield node, prefix or "0"
    else:
        yield from codes(node[0], prefix + "0")
        yield from codes(node[1], prefix + "1")


def decode(bits, root):
    node, out = root, []
    for bit in bits:
        node = node[int(bit)]
        if isinstance(node, str):
            out.append(node)
            node = root
    return "".join(out)


text = "she sells sea shells by the sea shore"
root = tree(text)
table = dict(codes(root))
bits = "".join(table[c] for c in text)
for char, code in sorted(table.items(), key=lambda item: (len(item[1]), item[1])):
    print(repr(char), code)
print(len(bits), len(text) * 8, f"{len(bits) / (len(text) * 8):.1%}", decode(bits, root) == text)
packed = int(bits, 2).to_bytes((len(bits) + 7) // 8, "big")
print(packed.hex(), dict(codes(tree("aaa"))), Counter(text).most_common(2))
