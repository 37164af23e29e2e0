from array import array
import sys

a = array("i", [1, 2, 3])
a.append(4)
a.extend([5, 6])
print(a, a.itemsize, a[1:3], a.tolist(), sum(a), a.index(3), a.count(9), a.pop(), len(a), a.tobytes().hex())
a.reverse()
a.insert(1, -1)
a[2:4] = array("i", [7])
print(a, array("d", [0.5, 1.5]), array("u" if False else "b", b"\x01\xff"), array("H", [1, 2]).tobytes(), array("q", [-(2 ** 63)]))
b = array("H", [1, 256])
b.byteswap()
print(b, array("f", [0.1])[0], array("B", range(5)) == array("i", range(5)), array("i") + array("i", [1]), array("i", [2]) * 3)
view = memoryview(bytearray(b"abcdefgh"))
print(view[2:5].tobytes(), view.nbytes, view.readonly, view[::2].tolist(), view.cast("I").shape, bytes(view[::-1]))
view[0:2] = b"XY"
print(view.obj, memoryview(array("d", [1.0])).format, memoryview(b"ab")[0], view.cast("B", [2, 4]).tolist())
for bad in ("array('i', [1.5])", "array('b', [200])", "a.append('x')", "memoryview(b'x')[0:1].__setitem__(0, 1)", "memoryview('s')", "array('i', [1]) + array('d')", "view[0:2].__setitem__(slice(0, 2), b'abc')"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:70])
