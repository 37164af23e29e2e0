# T24: compressed data that unpack to gigabytes
# expect: ok | memory | timeout
# prints: HELD: zlib
import bz2, functools, gzip, io, lzma, zipfile, zlib
print = functools.partial(print, flush=True)
one = zlib.compressobj(9, zlib.DEFLATED, 31)
head = one.compress(bytes(1 << 20)) + one.flush(zlib.Z_FULL_FLUSH)
# After a full flush the same block can follow any number of times.
bomb = head + (one.compress(bytes(4 << 20)) + one.flush(zlib.Z_FULL_FLUSH)) * 400 + one.flush()
print("bomb of", len(bomb) >> 10, "KiB")
for name, f in (("zlib", lambda: zlib.decompress(bomb, 31)), ("gzipfile", lambda: gzip.GzipFile(fileobj=io.BytesIO(bomb)).read())):
    try:
        print("FAIL:", name, len(f()))
    except MemoryError as e:
        print("HELD:", name, type(e).__name__)
