# R: eryx#73: what a session reports of itself after it was stopped is whole, and the next cell is not the last one's
# expect: timeout
# prints: first
print("first")
while True:
    pass
# --- turn ---
# expect: ok
# prints: second
# lacks: first
print("second")
