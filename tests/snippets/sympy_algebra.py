from sympy import Eq, Matrix, Rational, diff, factor, integrate, latex, limit, oo, pi, sin, solve, symbols

x, y = symbols("x y")
print(factor(x ** 3 - x))
print(solve(Eq(x ** 2 - 5 * x + 6, 0), x))
print(diff(sin(x) * x ** 2, x))
print(integrate(1 / (1 + x ** 2), (x, -oo, oo)), limit(sin(x) / x, x, 0))
print(solve([x + y - 10, x - y - 2], [x, y]))
print(Matrix([[1, 2], [3, 4]]).det(), Rational(1, 3) + Rational(1, 6))
print(latex(x ** 2 / pi))
