# O11: what was printed before a stop is kept
# expect: timeout
# prints: progress 1
# prints: progress 2
print("progress 1")
print("progress 2")
while True:
    pass
