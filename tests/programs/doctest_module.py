import doctest


def factorial(n):
    """Gives n!.

    >>> factorial(5)
    120
    >>> [factorial(n) for n in range(4)]
    [1, 1, 2, 6]
    >>> factorial(-1)
    Traceback (most recent call last):
        ...
    ValueError: n must be >= 0
    >>> factorial(30)    # doctest: +ELLIPSIS
    26525285...
    """
    if n < 0:
        raise ValueError("n must be >= 0")
    return 1 if n < 2 else n * factorial(n - 1)


def wrong():
    """
    >>> 1 + 1
    3
    >>> print("a\\n\\nb")
    a
    <BLANKLINE>
    b
    """


finder = doctest.DocTestFinder()
for function in (factorial, wrong):
    for test in finder.find(function, function.__name__):
        runner = doctest.DocTestRunner(verbose=False)
        output = []
        runner.run(test, out=output.append)
        print(test.name, len(test.examples), runner.failures, runner.tries)
        print("".join(output).split("\n", 2)[-1] if output else "all passed")
print([(e.source, e.want) for e in doctest.DocTestParser().get_examples(">>> x = 1\n>>> x\n1\n")])
