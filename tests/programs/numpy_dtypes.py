# needs: numpy>=2
import numpy as np

for kind in ("int8", "uint8", "float16", "float32", "float64", "complex64", "bool", "U5", "S3", "datetime64[D]"):
    a = np.zeros(2, dtype=kind)
    print(kind, a.dtype, a.itemsize, a[0], repr(a))
print(np.array([1, 2.5]).dtype, np.array([True, 2]).dtype.kind, np.result_type("int8", "uint8"), np.float32(0.1), repr(np.float64(0.1)), np.int64(5) // 2, np.iinfo("int16").max, np.finfo("float32").eps)
print(np.array([250, 10], dtype=np.uint8) + np.uint8(10), np.float32(1) / 3, np.array([1.7, -1.7]).astype("int64"), np.int8(-128).view(np.uint8), np.frombuffer(b"\x01\0\x02\0", "<u2"), np.array([1, 2], ">i4").tobytes())
days = np.arange("2024-02-27", "2024-03-02", dtype="datetime64[D]")
print(days, days[1] - days[0], days + np.timedelta64(1, "D"), np.datetime64("2024-01-01T10:00") - np.datetime64("2024-01-01"), np.is_busday(days), np.busday_count("2024-01-01", "2024-02-01"))
people = np.array([("ann", 31, 1.7), ("bob", 25, 1.8)], dtype=[("name", "U10"), ("age", "i4"), ("height", "f8")])
print(people["age"].mean(), people[people["age"] > 30]["name"], np.sort(people, order="age")["name"], people.dtype.names, people[0])
print(np.char.upper(np.array(["a", "b"])), np.array(["x", "yy"], dtype=object), np.array(None), np.asarray((1, 2)).tolist(), np.isscalar(1), np.array(5).item(), np.array([[1]]).squeeze())
with np.errstate(all="ignore"):
    print(np.array([1.0, -1, 0]) / 0, np.log(np.array([0.0])), np.sqrt(np.array([-1.0])), np.array([2**62], dtype="int64") * 4)
with np.printoptions(precision=2, suppress=True, linewidth=60, threshold=8):
    print(np.array([1e-9, 123.456, 1e5]), np.arange(30), np.random.default_rng(1).random((2, 3)))
np.save("a.npy", people)
np.savez("b.npz", x=days, y=np.eye(2))
np.savetxt("c.csv", np.eye(2), delimiter=",", fmt="%.1f", header="a,b")
print(np.load("a.npy")["name"], sorted(np.load("b.npz")), open("c.csv").read(), np.loadtxt("c.csv", delimiter=","), np.genfromtxt(["1,2", "3,x"], delimiter=","))
for bad in ("np.int8(300)", "np.array([1], dtype='nope')", "np.uint8(-1)", "np.array(['x']).astype(int)", "np.zeros(2)[:, 0]"):
    try:
        print(eval(bad))
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:60])
