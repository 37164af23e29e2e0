# F21: the quota by zip, tar, copytree and the library's own archive
# expect: ok
# prints: HELD: zip
import os, shutil, tarfile, zipfile
block = os.urandom(1 << 20)
def zip():
    with zipfile.ZipFile("/work/z.zip", "w") as z:
        for i in range(100):
            z.writestr(str(i), block)
def tree():
    os.mkdir("/work/t0")
    with open("/work/t0/f", "wb") as f:
        f.write(block * 10)
    for i in range(20):
        shutil.copytree(f"/work/t{i}", f"/work/t{i + 1}")
def library():
    for i in range(3):
        shutil.copyfile("/usr/local/lib/python315.zip", f"/work/lib{i}.zip")
def tar():
    open("/work/f", "wb").write(block * 30)
    with tarfile.open("/work/x.tar", "w") as t:
        for i in range(5):
            t.add("/work/f", str(i))
for f in (zip, tree, library, tar):
    try:
        f()
        print("FAIL:", f.__name__)
    except (OSError, shutil.Error) as e:
        print("HELD:", f.__name__, getattr(e, "errno", None))
    for name in os.listdir("/work"):
        path = "/work/" + name
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
print("left", os.listdir("/work"))
