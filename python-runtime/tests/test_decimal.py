"""The short way of `decimal` beside the library's own."""

import _pydecimal
import contextlib
import os
import random
import unittest
from unittest import mock

import guest  # noqa: F401  sets the path
import _slm_decimal as short

D = _pydecimal.Decimal
SLOW = {"+": short._slow_add, "-": short._slow_sub, "r-": short._slow_rsub, "*": short._slow_mul}
FAST = {"+": short._add, "-": short._subtract, "r-": short._subtract_from, "*": short._multiply}


def done(operation, *operands):
    """What came of it: the number to the last sign, or the error, and the flags that were raised."""
    context = _pydecimal.getcontext()
    context.clear_flags()
    try:
        result = operation(*operands)
        result = result if result is NotImplemented else (type(result), result.as_tuple())
    except Exception as exc:
        result = type(exc)
    return result, {signal for signal, raised in context.flags.items() if raised}


class Decimals(unittest.TestCase):
    def setUp(self):
        self.enterContext(_pydecimal.localcontext())

    def test_results_and_flags_are_the_librarys(self):
        seed = int.from_bytes(os.urandom(4), "big")
        rng = random.Random(seed)

        def operand():
            digits = rng.choice(("0", "1", "5", "99", "123456", "9" * 28, "1" * 27, "7" * 40))
            exponent = rng.choice((0, -2, -1, 3, -30, 61, -61, 40, -28, 99_999, -100_000, 999_990, -999_999))
            return D(f"{rng.choice(('', '-'))}{digits}E{exponent}")

        special = [D(text) for text in ("NaN", "-sNaN", "Infinity", "-Infinity")] + [0, 1, -7, 10**30, True, 1.5, "x", D("-0")]

        class Own(D):
            pass

        for number in range(6000):
            context = _pydecimal.getcontext()
            context.prec, context.clamp = rng.choice((28, 28, 5, 1)), rng.choice((0, 0, 1))
            context.Emax, context.Emin = rng.choice(((999_999, -999_999), (999_999, -999_999), (50, -50)))
            one, other = operand(), rng.choice((operand, operand, operand, lambda: rng.choice(special)))()
            if rng.random() < 0.05:
                one = rng.choice((Own(one), special[0], special[2]))
            for name in FAST:
                with self.subTest(seed=seed, number=number, operation=name, one=one, other=other, prec=context.prec):
                    self.assertEqual(done(FAST[name], one, other), done(SLOW[name], one, other))

    def test_a_context_that_is_given_is_obeyed(self):
        context = _pydecimal.Context(prec=3)
        self.assertEqual(str(short._add(D("123456"), D(1), context)), "1.23E+5")
        self.assertEqual(str(short._multiply(D("1.234"), D(2), context=context)), "2.47")

    def test_the_short_way_is_gone(self):
        """The tests above would pass if nothing ever went it."""
        with contextlib.ExitStack() as stack:
            for name in ("_slow_add", "_slow_sub", "_slow_rsub", "_slow_mul"):
                stack.enter_context(mock.patch.object(short, name, None))
            self.assertEqual(str(short._add(D("1.10"), D("2.2"))), "3.30")
            self.assertEqual(str(short._subtract(D("1.10"), 2)), "-0.90")
            self.assertEqual(str(short._subtract_from(D("1.10"), 2)), "0.90")
            self.assertEqual(str(short._multiply(D("-1.10"), D("3"))), "-3.30")
            self.assertEqual(str(short._add(D("0E+3"), D("-0.5"))), "-0.5")

    def test_it_is_put_in_place_only_where_the_part_in_c_is_missing(self):
        import decimal

        if decimal.Decimal is not D:
            short.install()
            self.assertIs(D.__add__, short._slow_add)
        names = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__")
        kept = {name: D.__dict__[name] for name in names}
        try:
            with mock.patch.object(decimal, "Decimal", D):
                short.install()
            self.assertEqual([sum([D("0.1")] * 3), 3 * D("0.5"), 1 - D("0.25"), D(2) - 1, 0 + D("1.0")],
                             [D("0.3"), D("1.5"), D("0.75"), 1, 1])
            self.assertEqual(1 + D("NaN") != 0, True)
        finally:
            for name, function in kept.items():
                setattr(D, name, function)
