GRID = """
53..7....
6..195...
.98....6.
8...6...3
4..8.3..1
7...2...6
.6....28.
...419..5
....8..79""".split()


def candidates(board, row, column):
    used = set(board[row]) | {board[r][column] for r in range(9)}
    top, left = row // 3 * 3, column // 3 * 3
    used |= {board[r][c] for r in range(top, top + 3) for c in range(left, left + 3)}
    return [d for d in "123456789" if d not in used]


def solve(board, count):
    count[0] += 1
    empty = [(len(options), r, c, options) for r in range(9) for c in range(9) if board[r][c] == "." for options in [candidates(board, r, c)]]
    if not empty:
        return True
    _, row, column, options = min(empty)
    for digit in options:
        board[row][column] = digit
        if solve(board, count):
            return True
    board[row][column] = "."
    return False


board, count = [list(row) for row in GRID], [0]
print(solve(board, count), count)
for row in board:
    print("".join(row))
print(all(len(set(row)) == 9 for row in board), all(len({board[r][c] for r in range(9)}) == 9 for c in range(9)))
print(candidates([list(row) for row in GRID], 0, 2))
