# T33: a collector that is called from its own callback, over a huge graph of cycles
# expect: timeout | error
import gc
graph = []
for _ in range(200_000):
    node = []
    node.append(node)
    graph.append(node)
gc.callbacks.append(lambda phase, info: [[] for _ in range(100_000)])
gc.set_threshold(1, 1, 1)
while True:
    gc.collect()
