import os, pathlib, time
for name in ("b", "a", "c"):
    pathlib.Path("/work/" + name).write_text(name)
print([(e.name, e.stat().st_mtime_ns, e.inode()) for e in os.scandir("/work")], os.stat("/work"))
# --- turn ---
time.sleep(0.01)
os.utime("/work/a")
pathlib.Path("/work/d").mkdir()
print(os.listdir("/work"), os.stat("/work/a"), os.stat("/work/d").st_ino, os.stat("/usr/local/lib/python315.zip").st_mtime_ns)
