GLIDER = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}


def step(cells):
    counts = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    counts[x + dx, y + dy] = counts.get((x + dx, y + dy), 0) + 1
    return {cell for cell, n in counts.items() if n == 3 or n == 2 and cell in cells}


cells = GLIDER
for generation in range(4):
    cells = step(cells)
    print(generation, sorted(cells))
for y in range(6):
    print("".join("#" if (x, y) in cells else "." for x in range(6)))
for row in range(-8, 9, 2):
    line = ""
    for column in range(-32, 13):
        z = c = complex(column / 16, row / 8)
        for n in range(30):
            if abs(z) > 2:
                break
            z = z * z + c
        line += " .:-=+*#%@"[n // 3] if n < 29 else "@"
    print(line.rstrip())
