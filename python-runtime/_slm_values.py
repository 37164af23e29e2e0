"""Memory that `multiprocessing` shares between processes, in the only process there is: values, arrays, blocks by name.

Depends on nothing else of the driver's; `_slm_shared` installs it.
"""

import array
import errno
import os
import threading

_CODES = {"c": "B", "u": "w"}


class RawValue:
    """`multiprocessing.RawValue`: a number of one of the array module's types, or a character."""

    def __init__(self, typecode, *args):
        self._cell = _cells(typecode, 1)
        if args:
            self.value = args[0]

    @property
    def value(self):
        return self._cell[0]

    @value.setter
    def value(self, value):
        self._cell[0] = value[0] if isinstance(value, bytes) else value


class RawArray:
    """`multiprocessing.RawArray`."""

    def __init__(self, typecode, size_or_initializer):
        if isinstance(size_or_initializer, int):
            self._cells = _cells(typecode, size_or_initializer)
        else:
            self._cells = _cells(typecode, 0)
            self._cells.extend(size_or_initializer)

    def __len__(self):
        return len(self._cells)

    def __getitem__(self, index):
        return self._cells[index].tolist() if isinstance(index, slice) else self._cells[index]

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            value = array.array(self._cells.typecode, value)
            if len(value) != len(range(*index.indices(len(self)))):
                raise ValueError("Can only assign sequence of same size")
        self._cells[index] = value

    def __iter__(self):
        return iter(self._cells)

    def __buffer__(self, flags):
        return memoryview(self._cells)

    @property
    def value(self):
        """An array of characters as bytes, up to the first zero."""
        return self._cells.tobytes().split(b"\0", 1)[0]

    @value.setter
    def value(self, value):
        if len(value) > len(self):
            raise ValueError("byte string too long")
        self._cells[: len(value)] = array.array("B", value)
        if len(value) < len(self):
            self._cells[len(value)] = 0


def _cells(typecode, size):
    if not isinstance(typecode, str):
        # A ctypes type names its code.
        typecode = getattr(typecode, "_type_", None)
        if not isinstance(typecode, str):
            raise TypeError("only the simple types can be shared here: give one of the array module's type codes")
    code = _CODES.get(typecode, typecode)
    return array.array(code, ["\0" if code == "w" else 0]) * size


class _Locked:
    """A value with its lock."""

    def __init__(self, *args, lock=True, ctx=None):
        super().__init__(*args)
        self._lock = threading.RLock() if lock in (True, None) else lock
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *error):
        return self._lock.__exit__(*error)

    def get_obj(self):
        return self

    def get_lock(self):
        return self._lock


class Synchronized(_Locked, RawValue):
    """`multiprocessing.Value`."""

    def __repr__(self):
        return f"<Synchronized wrapper for {self.value!r}>"


class SynchronizedArray(_Locked, RawArray):
    """`multiprocessing.Array`."""

    def __repr__(self):
        return f"<SynchronizedArray wrapper for {self[:]!r}>"


def Value(typecode_or_type, *args, lock=True, ctx=None):
    """`multiprocessing.sharedctypes.Value`."""
    return RawValue(typecode_or_type, *args) if lock is False else Synchronized(typecode_or_type, *args, lock=lock)


def Array(typecode_or_type, size_or_initializer, *, lock=True, ctx=None):
    """`multiprocessing.sharedctypes.Array`."""
    if lock is False:
        return RawArray(typecode_or_type, size_or_initializer)
    return SynchronizedArray(typecode_or_type, size_or_initializer, lock=lock)


class Arena:
    """`multiprocessing.heap.Arena`: where barriers count."""

    def __init__(self, size):
        self.size, self.buffer = size, bytearray(size)


class SharedMemory:
    """`multiprocessing.shared_memory.SharedMemory`: bytes by name."""

    _blocks = {}

    def __init__(self, name=None, create=False, size=0, *, track=True):
        if size < 0:
            raise ValueError("'size' must be a positive integer")
        if create:
            if size == 0:
                raise ValueError("'size' must be a positive number different from zero")
            name = name or "psm_" + os.urandom(4).hex()
            if name in self._blocks:
                raise FileExistsError(errno.EEXIST, "File exists", f"/{name}")
            self._blocks[name] = bytearray(size)
        elif name is None:
            raise ValueError("'name' can only be None if create=True")
        elif name not in self._blocks:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", f"/{name}")
        self._name, self._bytes = name, self._blocks[name]
        self.buf = memoryview(self._bytes)

    name = property(lambda self: self._name, doc="The name under which others find it.")
    size = property(lambda self: len(self._bytes), doc="Its size in bytes.")

    def close(self):
        if self.buf is not None:
            self.buf.release()
            self.buf = None

    def unlink(self):
        if self._blocks.pop(self._name, None) is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", f"/{self._name}")

    def __repr__(self):
        return f"{type(self).__name__}({self._name!r}, size={self.size})"
