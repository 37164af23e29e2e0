# M16: pickles that claim gigabytes, recurse, or call what they like: all of it stays in the guest
# expect: ok | memory | crashed
import functools; print = functools.partial(print, flush=True)
import io, marshal, pickle, struct
pickles = {"claims bytes": b"\x8e" + struct.pack("<Q", 1 << 40), "claims a frame": b"\x80\x04\x95" + struct.pack("<Q", 1 << 60), "claims a long": b"\x8b" + struct.pack("<i", 2 ** 31 - 1), "doubles": b"(lp0\n" + b"(lp1\ng0\na" * 2 + b"." , "puts far": b"Nr" + struct.pack("<I", 2 ** 31 - 1) + b".",
           "deep": b"(" * 200_000 + b"l" * 200_000 + b".", "system": b"cos\nsystem\n(S'true'\ntR.", "claims text": b"\x8d" + struct.pack("<Q", 2 ** 63)}
for name, data in pickles.items():
    try:
        print("check:", name, repr(pickle.loads(data))[:40])
    except Exception as e:
        print("HELD:", name, type(e).__name__)
for data in (b"(\xff\xff\xff\x7f", b"s\xff\xff\xff\x7f", b"[\xff\xff\xff\x7f" * 3, b"[\x01\x00\x00\x00" * 100_000, b"<\xff\xff\xff\x7f"):
    try:
        print("check:", repr(marshal.loads(data))[:40])
    except Exception as e:
        print("HELD: marshal", type(e).__name__)
