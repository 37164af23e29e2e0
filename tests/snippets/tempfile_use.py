import os
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "data.bin")
    with open(path, "wb") as f:
        f.write(bytes(range(256)))
    print(os.path.getsize(path), os.path.dirname(path) == folder)
print("gone:", not os.path.exists(folder))

with tempfile.NamedTemporaryFile("w+", suffix=".txt", delete=False) as tmp:
    tmp.write("hello")
    name = tmp.name
print(open(name).read(), name.endswith(".txt"))
os.unlink(name)

with tempfile.SpooledTemporaryFile(max_size=10, mode="w+") as spool:
    spool.write("0123456789abcdef")
    spool.seek(8)
    print(spool.read())
