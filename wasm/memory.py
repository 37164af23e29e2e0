"""How the snapshot lies in linear memory, so that a session writes to few of its pages.

Every page a session writes is first copied, which is nearly all that a fresh interpreter costs. Three things spread
writes over hundreds of pages, and this module ends each before the snapshot:

* reference counts: every object alive is made immortal, so that using it writes nothing to it;
* free memory: the holes that the imports left are filled, so that a session's own objects lie side by side;
* reseeding: the two global generators are filled in place rather than by running their packages.

All of it needs raw memory, which in WebAssembly starts at address 0 and which `id` gives addresses in.
"""

import array
import gc
import types

#: Where the view begins, in bytes: address 0 would be the null pointer.
_FIRST = 1024
#: Far beyond what a build may use; nothing looks at what is not there.
_WORDS = (1 << 29) - 1024
#: Counts from here on are never changed by the interpreter, and what has one is never freed.
_IMMORTAL = 1 << 30
#: What the interpreter itself gives to heap objects. Our mark is the lowest bit of a count, which it leaves at 0.
_COUNT = 5 << 28
_MARK = 1
#: dlmalloc's own word before each block, and the least it hands out.
_OVERHEAD, _SMALLEST = 4, 32


def linear_memory():
    """All of memory as a writable view of 32-bit words; the word of an address `a` is at `(a - _FIRST) >> 2`."""
    import numpy

    class Memory:
        __array_interface__ = {"data": (_FIRST, False), "typestr": "<u4", "shape": (_WORDS,), "version": 3}

    return memoryview(numpy.asarray(Memory())).cast("B").cast("I")


def fill(memory):
    """Takes every free block but the last and largest, for good: what is allocated from now on lies together.

    The blocks are zeroed, which also keeps what they held out of the image.
    """
    gc.collect()
    # The allocator serves a request from a hole whenever one fits, so the first block beyond them says there is none.
    end = id(bytes(16 << 20))
    for power in range(22, 4, -1):
        size = (1 << power) - _OVERHEAD - bytes.__basicsize__
        while (block := id(kept := bytes(size))) < end:
            memory[block - _FIRST >> 2] = _COUNT
    while (block := id(kept := object())) < end:
        memory[block - _FIRST >> 2] = _COUNT
    del kept


def immortalise(memory):
    """Makes every object that can be reached immortal.

    What that changes for a session: such an object is never freed, so what replaces it comes on top; and code that
    asks for a count of 1 (to append to a text in place, to reuse a tuple) makes a new object, as for a shared one.
    Nothing here relies on being freed: no file is open (see `check_descriptors`), weak references to what lives as
    long as the interpreter never die, exit handlers run by themselves, and the driver's reserve of memory is emptied,
    not dropped. Lists and dictionaries still grow and shrink, and let go of what a session put into them. The
    collector skips immortal objects, and takes what they refer to for alive, as it does for all that is frozen.
    """
    todo = gc.get_objects()
    # Nothing but this function holds the list, so it is in no referents and dies when this returns.
    namespace, bases, mro = (type.__dict__[name].__get__ for name in ("__dict__", "__bases__", "__mro__"))
    while todo:
        value = todo.pop()
        place = id(value) - _FIRST >> 2
        count = memory[place]
        if count >= _IMMORTAL:
            if count & _MARK:
                continue
            memory[place] = count | _MARK
        else:
            memory[place] = _COUNT | _MARK
        todo.extend(gc.get_referents(value))
        # What the collector does not see: the parts of code, and what the interpreter's own types hold.
        if isinstance(value, types.CodeType):
            todo += (value.co_consts, value.co_names, value.co_filename, value.co_name, value.co_qualname)
        elif isinstance(value, type):
            todo += (namespace(value), bases(value), mro(value))


def twisters(memory):
    """The states of the global generators of `random` and numpy, as writable bytes.

    Both are left where a twister makes its next 624 words: whatever is written there then is a state of its own.
    """
    import random

    import numpy

    version, state, _ = random.getstate()
    random.setstate((version, state[:-1] + (len(state) - 1,), None))
    views = [_find(memory, random._inst, state[:-1])]
    numpy.random.seed(0)
    name, key, *_ = numpy.random.get_state()
    numpy.random.set_state((name, key, len(key), 0, 0.0))
    views.append(_find(memory, numpy.random.get_bit_generator(), key.tolist()))
    return views


def _find(memory, holder, words):
    """The bytes of `words` inside the object `holder`."""
    wanted, raw, start = array.array("I", words).tobytes(), memory.cast("B"), id(holder) - _FIRST
    offset = bytes(raw[start : start + 2 * len(wanted)]).find(wanted)
    if offset < 0:
        raise LookupError(f"the state of {holder!r} is not where it was")
    return raw[start + offset : start + offset + len(wanted)]
