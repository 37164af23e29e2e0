# needs: sympy>=1.13
from sympy import Eq, Integral, Matrix, Rational, Symbol, diff, expand, factor, factorint, init_printing, integrate, isprime, latex, limit, oo, pi, pretty, series, simplify, sin, cos, exp, solve, sqrt, symbols, dsolve, Function, nsimplify, summation

x, y, n = symbols("x y n")
print(expand((x + y) ** 3), factor(x ** 3 - 1), simplify(sin(x) ** 2 + cos(x) ** 2), diff(x ** 2 * exp(x), x), integrate(1 / (1 + x ** 2), (x, 0, oo)), limit(sin(x) / x, x, 0))
print(solve(x ** 2 - 2, x), solve([x + y - 3, x - y - 1], [x, y]), series(exp(x), x, 0, 5), summation(n, (n, 1, 100)), Rational(1, 3) + Rational(1, 6), sqrt(50), pi.evalf(30))
print(latex(Integral(x ** 2 / 2, x)), pretty(x ** 2 / y), Matrix([[1, 2], [3, 4]]).inv(), Matrix([[2, 0], [0, 3]]).eigenvals(), factorint(360), isprime(2 ** 61 - 1), (x + 1).subs(x, 2), Eq(x, y))
f = Function("f")
print(dsolve(f(x).diff(x) - f(x), f(x)), nsimplify(0.75), sorted((x * y + 1).free_symbols, key=str), str(1 / x + sqrt(2) * x))
