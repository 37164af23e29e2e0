import gc, weakref
gone = []
class Node:
    def __del__(self):
        gone.append(self.n)
for i in range(20):
    a, b = Node(), Node()
    a.n, b.n = i, -i
    a.o, b.o = b, a
print(gc.collect(), gone, gc.get_count(), gc.get_stats()[2]["collected"])
refs = weakref.WeakSet(obj for obj in (Node, gc, weakref.ref))
print(list(refs))
