# R: wasmtime GHSA-m9f7-9w4p-gv38, a rename that leaves its folder
# expect: ok
# prints: HELD:
import os
open("/work/f", "w").write("x")
os.mkdir("/work/d")
fds = [os.open(p, os.O_RDONLY) for p in ("/work", "/work/d", "/tmp")]
for target in ("../../etc/x", "../x", "/x", "../../../../../../tmp/outside/x", "d/../../x", "d/../../../x", "./../x", "..", "/..", "../work/../../x", "d/..", "/usr/local/lib/../x", "f/../../x", "\0../x"):
    for source in ("f", "d", "../etc/passwd", "/etc/passwd", "d/../../etc/passwd"):
        for fd in fds:
            try:
                os.rename(source, target, src_dir_fd=fd, dst_dir_fd=fd)
                here = {p for p in ("/work", "/tmp") if os.listdir(p)}
                print("check: renamed", source, ascii(target), sorted(here))
                if not os.path.exists("/work/f"): open("/work/f", "w").write("x")
                if not os.path.exists("/work/d"): os.mkdir("/work/d")
            except (OSError, ValueError) as e:
                pass
print("HELD:", sorted(os.listdir("/")), os.path.exists("/x"), os.path.exists("/etc"))
