# F36: out of a folder by its descriptor
# expect: ok
# prints: HELD:
import os
fds = {name: os.open(name, os.O_RDONLY) for name in ("/work", "/tmp", "/usr/local/lib")}
for number in range(3, 40):
    fds[number] = number
for name, fd in fds.items():
    for path in ("../etc/passwd", "../../../../../etc/passwd", "/etc/passwd", "etc/passwd", "./../etc/hostname", "../proc/self/environ", "..", "../.."):
        try:
            got = os.open(path, os.O_RDONLY, dir_fd=fd)
            inside = os.listdir(got)
            print("FAIL: sees" if {"etc", "proc", "home", "root", "dev"} & set(inside) else "check:", name, path, inside[:5])
            os.close(got)
        except (OSError, TypeError, OverflowError) as e:
            print("HELD:", name, path, getattr(e, "errno", None))
