def factorial(n):
    """Return n! for a non-negative integer.

    >>> factorial(5)
    120
    >>> [factorial(n) for n in range(4)]
    [1, 1, 2, 6]
    >>> factorial(-1)
    Traceback (most recent call last):
        ...
    ValueError: n must be >= 0
    """
    if n < 0:
        raise ValueError("n must be >= 0")
    return 1 if n == 0 else n * factorial(n - 1)

def wrong(n):
    """
    >>> wrong(1)
    3
    """
    return n

if __name__ == "__main__":
    import doctest
    print(doctest.testmod())
