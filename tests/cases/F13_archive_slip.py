# F13: the host unpacks nothing; in the guest, extraction stays where it was told to
# expect: ok
# prints: HELD:
import io, os, tarfile, zipfile
with zipfile.ZipFile("/work/slip.zip", "w") as z:
    z.writestr("../../../../tmp/evil.txt", "x"); z.writestr("/abs/evil.txt", "x")
b = io.BytesIO()
with tarfile.open(fileobj=b, mode="w") as t:
    i = tarfile.TarInfo("link"); i.type = tarfile.SYMTYPE; i.linkname = "/etc"; t.addfile(i)
    i = tarfile.TarInfo("link/evil"); i.size = 1; t.addfile(i, io.BytesIO(b"x"))
open("/work/slip.tar", "wb").write(b.getvalue()); b.seek(0)
try:
    tarfile.open(fileobj=b).extractall("/work/x", filter="data"); print("FAIL: extracted")
except Exception as e:
    print("HELD:", type(e).__name__)
zipfile.ZipFile("/work/slip.zip").extractall("/work/y")
print(sorted(os.path.join(r, f) for r, _, fs in os.walk("/work/y") for f in fs))
