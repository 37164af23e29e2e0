"""numpy's sums and products of integers in 64 bits, as on the machines that programs are written for.

numpy adds integers up in the machine's width, which is 32 bits here, so that a sum over a few thousand rows could
overflow without a word. A sum of everything is a scalar and goes into nothing that minds its width. One along an axis
is an array, which the library's compiled parts may want as wide as an index: it is widened for cells alone.
"""

import sys

_frame = sys._getframe
_LIBRARY = "/usr/local/lib/"
_reduction = _sum = _prod = _asarray = _ndarray = None
#: The types that are narrower than 64 bits, and what they are added up in.
_wide = {}


def install():
    """Puts both in place: before numpy adds anything up, since it keeps what it finds at the first sum. Once."""
    global _reduction, _sum, _prod, _asarray, _ndarray
    import numpy
    from numpy._core import _methods, fromnumeric

    signed, unsigned = numpy.dtype(numpy.int64), numpy.dtype(numpy.uint64)
    for name in ("bool", "int8", "int16", "int32"):
        _wide[numpy.dtype(name)] = signed
    for name in ("uint8", "uint16", "uint32"):
        _wide[numpy.dtype(name)] = unsigned
    _asarray, _ndarray, _reduction = numpy.asarray, numpy.ndarray, fromnumeric._wrapreduction
    _sum, _prod = _methods._sum, _methods._prod
    _methods._sum, _methods._prod, fromnumeric._wrapreduction = add_up, multiply_up, wrapped_reduction


def add_up(a, axis=None, dtype=None, out=None, *args, **kwargs):
    """What `ndarray.sum` calls."""
    if dtype is None and out is None and a.dtype in _wide and (axis is None or a.ndim < 2 or _from_a_cell(2)):
        dtype = _wide[a.dtype]
    return _sum(a, axis, dtype, out, *args, **kwargs)


def multiply_up(a, axis=None, dtype=None, out=None, *args, **kwargs):
    """What `ndarray.prod` calls."""
    if dtype is None and out is None and a.dtype in _wide and (axis is None or a.ndim < 2 or _from_a_cell(2)):
        dtype = _wide[a.dtype]
    return _prod(a, axis, dtype, out, *args, **kwargs)


def wrapped_reduction(obj, ufunc, method, axis, dtype, out, **kwargs):
    """What `numpy.sum`, `numpy.prod` and their like call."""
    if dtype is None and out is None and (method == "sum" or method == "prod"):
        if type(obj) is list or type(obj) is tuple:
            obj = _asarray(obj)
        # Of other classes (pandas') numpy calls their own method, which takes no type and adds up in 64 bits.
        if isinstance(obj, _ndarray) and obj.dtype in _wide and (axis is None or obj.ndim < 2 or _from_a_cell(3)):
            dtype = _wide[obj.dtype]
    return _reduction(obj, ufunc, method, axis, dtype, out, **kwargs)


def _from_a_cell(depth):
    """Whether the caller's caller is a program's own code rather than the library's."""
    return not _frame(depth).f_code.co_filename.startswith(_LIBRARY)
