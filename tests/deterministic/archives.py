import gzip, io, tarfile, zipfile, hashlib
open("/work/x", "w").write("text")
with zipfile.ZipFile("/work/z.zip", "w") as z:
    z.write("/work/x")
with tarfile.open("/work/t.tar.gz", "w:gz") as t:
    t.add("/work/x")
print(hashlib.sha256(open("/work/z.zip", "rb").read()).hexdigest(), hashlib.sha256(open("/work/t.tar.gz", "rb").read()).hexdigest(), gzip.compress(b"x").hex())
