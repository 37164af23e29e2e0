# M12: touched memory goes back to the host: many runs leave resident memory flat
# runs: 50
# expect: ok
# prints: touched 209715200
x = bytearray(200 << 20)
for i in range(0, len(x), 4096):
    x[i] = 1
print("touched", len(x))
