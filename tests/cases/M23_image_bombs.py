# M23: images of a size that nobody has
# expect: ok | error | memory
import functools; print = functools.partial(print, flush=True)
import io, struct, zlib
from PIL import Image
def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")
Image.MAX_IMAGE_PIXELS = None
for name, f in (("new", lambda: Image.new("RGBA", (60_000, 60_000))), ("png", lambda: Image.open(io.BytesIO(png(60_000, 60_000))).load()), ("resize", lambda: Image.new("L", (10, 10)).resize((10 ** 5, 10 ** 5))), ("huge", lambda: Image.open(io.BytesIO(png(2 ** 31 - 1, 2 ** 31 - 1))).load())):
    try:
        f()
        print("FAIL: got", name)
    except (MemoryError, ValueError, OSError, OverflowError, SyntaxError, Image.DecompressionBombError) as e:
        print("HELD:", name, type(e).__name__)
