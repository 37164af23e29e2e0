import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

text = ("The quick brown fox. " * 200).encode()
for module in (gzip, bz2, lzma):
    packed = module.compress(text)
    print(module.__name__, len(packed) < 200, module.decompress(packed) == text)
with zipfile.ZipFile("pack.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a.txt", "alpha")
    z.writestr("dir/b.txt", text)
with zipfile.ZipFile("pack.zip") as z:
    print(z.namelist(), z.read("a.txt"), z.testzip())
    z.extractall("out")
print(open("out/dir/b.txt", "rb").read() == text)
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
    tar.add("out", arcname="copy")
buffer.seek(0)
with tarfile.open(fileobj=buffer) as tar:
    print(sorted(tar.getnames()))
with gzip.open("log.gz", "wt") as f:
    f.write("one\ntwo\n")
print(gzip.open("log.gz", "rt").read().split())
