import math


def bisect(f, lo, hi, tolerance=1e-12):
    while hi - lo > tolerance:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if (f(lo) < 0) == (f(mid) < 0) else (lo, mid)
    return (lo + hi) / 2


def newton(f, df, x, steps=20):
    for _ in range(steps):
        x -= f(x) / df(x)
    return x


def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + 4 * sum(f(a + i * h) for i in range(1, n, 2)) + 2 * sum(f(a + i * h) for i in range(2, n, 2)))


def rk4(f, y, t, h, steps):
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h * k1 / 2)
        k3 = f(t + h / 2, y + h * k2 / 2)
        k4 = f(t + h, y + h * k3)
        y, t = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6, t + h
    return y


print(f"{bisect(lambda x: x ** 3 - 2, 0, 2):.12f} {newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0):.15f}")
print(f"{simpson(math.sin, 0, math.pi):.10f} {simpson(lambda x: x ** 3, 0, 1):.12f} {rk4(lambda t, y: y, 1.0, 0.0, 0.01, 100):.10f}")
print(f"{sum((-1) ** k / (2 * k + 1) for k in range(1000)) * 4:.10f} {sum(1 / math.factorial(k) for k in range(20)):.14f}")
loan, rate, years = 200_000, 0.045 / 12, 30
payment = loan * rate / (1 - (1 + rate) ** (-years * 12))
balance = loan
for month in range(1, 13):
    interest = balance * rate
    balance -= payment - interest
    if month in (1, 2, 12):
        print(f"{month:>3} {payment:10.2f} {interest:10.2f} {balance:12.2f}")
xs, ys = [1, 2, 3, 4, 5], [2.2, 4.1, 6.2, 7.9, 10.1]
mx, my = sum(xs) / 5, sum(ys) / 5
slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
print(round(slope, 10), round(my - slope * mx, 10))
print([round(9 / 5 * c + 32, 1) for c in (-40, 0, 36.6, 100)], [f"{kg / 1.75 ** 2:.1f}" for kg in (50, 70.5, 90)])
