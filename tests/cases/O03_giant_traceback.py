# O03: a message of 20 MiB is cut
# expect: error
# raises: ValueError
def f(n):
    if n:
        f(n - 1)
    raise ValueError("E" * (20 << 20))
f(50)
