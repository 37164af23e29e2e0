# F08: the read-only folders by way of descriptors, flags and detours
# expect: ok
# prints: HELD: append
import os
lib = "/usr/local/lib"
z = lib + "/python315.zip"
fd, root = os.open(z, os.O_RDONLY), os.open(lib, os.O_RDONLY)
tries = {"append": lambda: open(z, "ab"), "update": lambda: open(z, "r+b"), "O_RDWR": lambda: os.open(z, os.O_RDWR), "O_WRONLY": lambda: os.open(z, os.O_WRONLY), "excl": lambda: os.open(lib + "/x", os.O_CREAT | os.O_EXCL | os.O_WRONLY),
         "write": lambda: os.write(fd, b"x"), "ftruncate": lambda: os.ftruncate(fd, 0), "pwrite": lambda: os.pwrite(fd, b"x", 0), "futime": lambda: os.utime(fd, (0, 0)), "detour": lambda: open("/work/../usr/local/lib/../lib/x", "w"),
         "dir_fd": lambda: os.open("x", os.O_CREAT | os.O_WRONLY, dir_fd=root), "dir_fd mkdir": lambda: os.mkdir("x", dir_fd=root), "dir_fd unlink": lambda: os.unlink("python315.zip", dir_fd=root), "rename dir_fd": lambda: os.rename("python315.zip", "y", src_dir_fd=root, dst_dir_fd=root),
         "directory|creat": lambda: os.open(lib + "/d", os.O_DIRECTORY | os.O_CREAT), "fallocate": lambda: os.posix_fallocate(fd, 0, 1 << 30)}
for name, f in tries.items():
    try:
        f()
        print("FAIL:", name)
    except (OSError, AttributeError, NotImplementedError, TypeError) as e:
        print("HELD:", name, type(e).__name__, getattr(e, "errno", None))
