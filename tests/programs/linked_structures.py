class Node:
    def __init__(self, value, after=None):
        self.value, self.after = value, after


class LinkedList:
    def __init__(self, items=()):
        self.head, self.size = None, 0
        for item in reversed(list(items)):
            self.push(item)

    def push(self, value):
        self.head, self.size = Node(value, self.head), self.size + 1

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.after

    def __len__(self):
        return self.size

    def reverse(self):
        previous, node = None, self.head
        while node:
            node.after, previous, node = previous, node, node.after
        self.head = previous

    def __str__(self):
        return " -> ".join(map(str, self)) or "empty"


class LRU:
    def __init__(self, capacity):
        self.capacity, self.items = capacity, {}

    def get(self, key):
        if key not in self.items:
            return None
        self.items[key] = value = self.items.pop(key)
        return value

    def put(self, key, value):
        self.items.pop(key, None)
        self.items[key] = value
        if len(self.items) > self.capacity:
            self.items.pop(next(iter(self.items)))


class Trie:
    def __init__(self):
        self.children, self.is_word = {}, False

    def add(self, word):
        node = self
        for c in word:
            node = node.children.setdefault(c, Trie())
        node.is_word = True

    def words(self, prefix=""):
        if self.is_word:
            yield prefix
        for c, child in sorted(self.children.items()):
            yield from child.words(prefix + c)


numbers = LinkedList([1, 2, 3])
numbers.push(0)
print(numbers, len(numbers), list(numbers), 2 in numbers)
numbers.reverse()
print(numbers, LinkedList())
cache = LRU(2)
for key in "abac":
    cache.put(key, key.upper())
print(cache.items, cache.get("b"), cache.get("a"))
trie = Trie()
for word in ("tea", "ten", "to", "inn", "in"):
    trie.add(word)
print(list(trie.words()))


def balanced(text, pairs={")": "(", "]": "[", "}": "{"}):
    stack = []
    for c in text:
        if c in pairs.values():
            stack.append(c)
        elif c in pairs and (not stack or stack.pop() != pairs[c]):
            return False
    return not stack


print([balanced(t) for t in ("([]{})", "(]", "((", "", "}")])


def rpn(expression):
    stack = []
    for token in expression.split():
        if token in "+-*/":
            b, a = stack.pop(), stack.pop()
            stack.append({"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else float("nan")}[token])
        else:
            stack.append(float(token))
    return stack


print(rpn("3 4 + 2 * 7 /"), rpn("5 1 2 + 4 * + 3 -"))
try:
    rpn("1 +")
except IndexError as error:
    print(error)
