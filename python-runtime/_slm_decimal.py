"""`decimal` without its part in C: sums and products that need no rounding, by a short way.

Depends on `_slm_wire`. The library's own arithmetic in Python prepares for every case of the standard. Nearly all sums and
products of a program are exact, and an exact result within the exponents' range has no flags, traps or modes: it is made
here from integers. Everything else goes the library's way.
"""

import _pydecimal
import decimal

from _slm_wire import PRISTINE as __builtins__

_Decimal, _triple, _context = _pydecimal.Decimal, _pydecimal._dec_from_triple, _pydecimal.getcontext
_slow_add, _slow_sub, _slow_rsub, _slow_mul = (
    getattr(_Decimal, name) for name in ("__add__", "__sub__", "__rsub__", "__mul__"))

#: Exponents nearer to 0 than this are in no danger where the context allows twice that.
_FAR = 100_000
#: Operands further apart than this have no exact sum in usual precisions.
_APART = 60
#: Operands with more digits than this are left to the library.
_LONG = 1000


def install():
    """Puts the short way in front of the library's, where the part in C is missing. Once, before the snapshot."""
    if decimal.Decimal is not _Decimal:
        return
    _Decimal.__add__ = _Decimal.__radd__ = _add
    _Decimal.__sub__, _Decimal.__rsub__ = _subtract, _subtract_from
    _Decimal.__mul__ = _Decimal.__rmul__ = _multiply


def _add(self, other, context=None):
    """Returns self + other.

    -INF + INF (or the reverse) cause InvalidOperation errors.
    """
    result = _sum(self, other, 1, 1) if context is None else None
    return _slow_add(self, other, context) if result is None else result


def _subtract(self, other, context=None):
    """Return self - other"""
    result = _sum(self, other, 1, -1) if context is None else None
    return _slow_sub(self, other, context) if result is None else result


def _subtract_from(self, other, context=None):
    """Return other - self"""
    result = _sum(self, other, -1, 1) if context is None else None
    return _slow_rsub(self, other, context) if result is None else result


def _multiply(self, other, context=None):
    """Return self * other.

    (+-) INF * 0 (or its reverse) raise InvalidOperation.
    """
    if context is None and type(self) is _Decimal and not self._is_special and len(self._int) < _LONG:
        number, exponent = int(self._int), self._exp
        if self._sign:
            number = -number
        if type(other) is int:
            result = _made(number * other, exponent)
        elif type(other) is _Decimal and not other._is_special and len(other._int) < _LONG:
            number *= int(other._int)
            result = _made(-number if other._sign else number, exponent + other._exp)
        else:
            result = None
        if result is not None:
            return result
    return _slow_mul(self, other, context)


def _sum(self, other, by, with_):
    """`by * self + with_ * other` where that is exact and not zero, else None."""
    if type(self) is not _Decimal or self._is_special or len(self._int) >= _LONG:
        return None
    number, exponent = int(self._int), self._exp
    if self._sign:
        by = -by
    if type(other) is int:
        added, apart = other, exponent
    elif type(other) is _Decimal and not other._is_special and len(other._int) < _LONG:
        added, apart = int(other._int), exponent - other._exp
        if other._sign:
            with_ = -with_
    else:
        return None
    if apart > 0:
        if apart > _APART:
            return None
        number *= 10**apart
        exponent -= apart
    elif apart:
        if apart < -_APART:
            return None
        added *= 10**-apart
    return _made(by * number + with_ * added, exponent)


def _made(number, exponent):
    """`number * 10**exponent` where the context takes it as it is, else None."""
    context = _context()
    text = str(number)
    if number > 0:
        sign = 0
    elif number:
        sign, text = 1, text[1:]
    else:
        return None  # the sign of a zero is a matter of its own
    if len(text) > context.prec or not -_FAR < exponent < _FAR:
        return None
    if context.Emax < 2 * _FAR or context.Emin > -2 * _FAR or context.clamp:
        return None
    return _triple(sign, text, exponent)
