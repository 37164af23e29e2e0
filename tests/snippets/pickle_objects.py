import copy
import pickle

class Node:
    def __init__(self, value, children=()):
        self.value = value
        self.children = list(children)

    def __eq__(self, other):
        return isinstance(other, Node) and (self.value, self.children) == (other.value, other.children)

    def __getstate__(self):
        return {"value": self.value, "children": self.children}

def double(x):
    return x * 2

tree = Node(1, [Node(2), Node(3, [Node(4)])])
with open("tree.pkl", "wb") as f:
    pickle.dump({"tree": tree, "function": double, "class": Node}, f)
with open("tree.pkl", "rb") as f:
    back = pickle.load(f)
print(back["tree"] == tree, back["tree"] is tree, back["function"](21), back["class"] is Node)
twin = copy.deepcopy(tree)
twin.children[0].value = 99
print(tree.children[0].value, twin.children[0].value)
try:
    pickle.dumps(lambda x: x)
except Exception as e:
    print(type(e).__name__)
