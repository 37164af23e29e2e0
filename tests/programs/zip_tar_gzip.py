import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
import zlib

text = b"the same line again and again\n" * 50
print(len(zlib.compress(text)) < 100, zlib.crc32(text), zlib.adler32(text), zlib.decompress(zlib.compress(text, 9)) == text)
for module in (gzip, bz2, lzma):
    packed = module.compress(text)
    print(module.__name__, len(packed) < 200, module.decompress(packed) == text)
with gzip.open("x.gz", "wt") as file:
    file.write("line 1\nline 2\n")
with gzip.open("x.gz", "rt") as file:
    print(file.readlines())
with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("a/b.txt", "hello")
    archive.writestr(zipfile.ZipInfo("dated.txt", (2024, 1, 2, 3, 4, 6)), "dated")
    archive.write("x.gz", "copy.gz")
with zipfile.ZipFile("z.zip") as archive:
    print(archive.namelist(), archive.read("a/b.txt"), archive.testzip(), archive.getinfo("dated.txt").date_time, archive.getinfo("a/b.txt").file_size)
    print([(i.filename, i.is_dir(), i.CRC) for i in archive.infolist()][:2], zipfile.is_zipfile("z.zip"), zipfile.Path(archive, "a/").joinpath("b.txt").read_text())
    archive.extractall("out")
print(open("out/a/b.txt").read())
buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
    info = tarfile.TarInfo("dir/file.txt")
    info.size, info.mtime = 4, 86400
    tar.addfile(info, io.BytesIO(b"data"))
    tar.add("out/a", arcname="added")
buffer.seek(0)
with tarfile.open(fileobj=buffer) as tar:
    print(tar.getnames(), tar.extractfile("dir/file.txt").read(), tar.getmember("dir/file.txt").mtime)
    tar.extractall("untarred", filter="data")
print(open("untarred/added/b.txt").read())
for bad in (lambda: zlib.decompress(b"junk"), lambda: gzip.decompress(b"junk"), lambda: zipfile.ZipFile(io.BytesIO(b"junk")), lambda: tarfile.open(fileobj=io.BytesIO(b"junk")), lambda: lzma.decompress(b"junk"), lambda: bz2.decompress(b"junkjunk"), lambda: zipfile.ZipFile("z.zip").read("nope")):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, str(error)[:60])
d = zlib.decompressobj()
packed = zlib.compress(text) + b"rest"
print(len(d.decompress(packed, 100)), len(d.decompress(d.unconsumed_tail)), d.eof, d.unused_data)
