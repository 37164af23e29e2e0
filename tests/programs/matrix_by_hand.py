from fractions import Fraction


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError("rows of different lengths")

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        columns = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(self.shape[0]), self
        while n:
            if n & 1:
                result = result @ base
            base, n = base @ base, n >> 1
        return result

    def __eq__(self, other):
        return self.rows == other.rows

    def det(self):
        rows, sign, product = [[Fraction(x) for x in row] for row in self.rows], 1, Fraction(1)
        for i in range(len(rows)):
            pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
            if pivot is None:
                return Fraction(0)
            if pivot != i:
                rows[i], rows[pivot], sign = rows[pivot], rows[i], -sign
            product *= rows[i][i]
            for r in range(i + 1, len(rows)):
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
        return sign * product

    def __str__(self):
        width = max(len(str(x)) for row in self.rows for x in row)
        return "\n".join(" ".join(f"{x!s:>{width}}" for x in row) for row in self.rows)


fib = Matrix([[1, 1], [1, 0]])
print(fib ** 50)
m = Matrix([[2, -1, 0], [1, 3, 5], [4, 0, Fraction(1, 2)]])
print(m, m.det(), Matrix([[1, 2], [2, 4]]).det(), m.shape, m @ Matrix.identity(3) == m, sep="\n")
for bad in (lambda: fib @ m, lambda: Matrix([[1], [1, 2]])):
    try:
        bad()
    except ValueError as error:
        print(error)
