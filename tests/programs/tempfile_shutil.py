import os
import shutil
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory(prefix="job-") as folder:
    base = Path(folder)
    print(base.name.startswith("job-"), base.is_dir(), list(base.iterdir()))
    (base / "a.txt").write_text("aaa")
    shutil.copy(base / "a.txt", base / "b.txt")
    shutil.move(base / "b.txt", base / "c.txt")
    print(sorted(p.name for p in base.iterdir()))
    archive = shutil.make_archive(str(base / "out"), "zip", folder, "a.txt")
    print(os.path.basename(archive), sorted(os.listdir(folder)))
    shutil.unpack_archive(archive, base / "unpacked")
    print((base / "unpacked" / "a.txt").read_text())
print(os.path.exists(folder))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("temporary")
    file.flush()
    file.seek(0)
    print(file.read(), file.name.endswith(".txt"), os.path.exists(file.name))
print(os.path.exists(file.name))
with tempfile.TemporaryFile() as file:
    file.write(b"x" * 10)
    print(file.tell(), file.seek(0), len(file.read()))
spooled = tempfile.SpooledTemporaryFile(max_size=5, mode="w+")
spooled.write("abc")
print(spooled._rolled)
spooled.write("defgh")
spooled.seek(0)
print(spooled._rolled, spooled.read())
handle, path = tempfile.mkstemp(text=True)
os.write(handle, b"low level")
os.close(handle)
print(open(path).read(), os.path.isabs(path), os.path.basename(tempfile.mkdtemp(suffix="-x"))[-2:])
os.unlink(path)
