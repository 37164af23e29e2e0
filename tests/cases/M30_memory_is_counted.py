# M30: memory of the session before counts for nothing in the next
# expect: ok
x = bytearray(300 << 20)
# --- fresh ---
# expect: ok
# prints: again
x = bytearray(300 << 20)
print("again", len(x) >> 20)
