# T35: a finally that spins when its generator is closed, and a context manager that does on the way out
# expect: timeout
def g():
    try:
        yield
    finally:
        while True:
            pass
it = g()
next(it)
del it
