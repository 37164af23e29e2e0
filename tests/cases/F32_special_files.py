# F32: pipes, devices, sockets, owners, modes: none of it
# expect: ok
# prints: HELD: pipe
import os, socket
open("/work/f", "w").close()
tries = {"mkfifo": lambda: os.mkfifo("/work/p"), "mknod": lambda: os.mknod("/work/n"), "pipe": lambda: os.pipe(), "chown": lambda: os.chown("/work/f", 0, 0), "chroot": lambda: os.chroot("/work"), "mount": lambda: os.mount("/", "/work"), "openpty": lambda: os.openpty(), "memfd": lambda: os.memfd_create("x"),
         "unix socket": lambda: socket.socket(socket.AF_UNIX).bind("/work/s"), "sendfile": lambda: os.sendfile(1, 0, 0, 10), "setxattr": lambda: os.setxattr("/work/f", "user.x", b"x"), "lock": lambda: __import__("fcntl").flock(1, 2), "ioctl": lambda: __import__("fcntl").ioctl(1, 0x5413, bytes(8)),
         "dev": lambda: open("/dev/zero"), "proc": lambda: os.listdir("/proc"), "inotify": lambda: __import__("_inotify")}
for name, f in tries.items():
    try:
        print("FAIL:", name, f())
    except (OSError, AttributeError, ImportError, TypeError) as e:
        print("HELD:", name, type(e).__name__, getattr(e, "errno", None))
