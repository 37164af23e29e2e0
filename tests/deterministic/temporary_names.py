import os, tempfile
f = tempfile.NamedTemporaryFile(delete=False)
print(f.name, tempfile.mkdtemp(), tempfile.mktemp(), os.path.getmtime(f.name))
open("/work/" + os.path.basename(f.name), "w").write("x")
