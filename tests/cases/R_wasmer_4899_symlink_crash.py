# R: wasmer#4899 and its kin (#6064, #6399): path calls on descriptors that are files, with one component, with none
# expect: ok
# prints: HELD:
import os
f = os.open("/work/f", os.O_CREAT | os.O_RDWR)
for call in (lambda p: os.symlink("a", p, dir_fd=f), lambda p: os.mkdir(p, dir_fd=f), lambda p: os.unlink(p, dir_fd=f), lambda p: os.rename(p, p, src_dir_fd=f, dst_dir_fd=f), lambda p: os.stat(p, dir_fd=f), lambda p: os.open(p, os.O_CREAT | os.O_RDWR, dir_fd=f), lambda p: os.link(p, p, src_dir_fd=f, dst_dir_fd=f),
             lambda p: os.readlink(p, dir_fd=f), lambda p: os.utime(p, dir_fd=f), lambda p: os.rmdir(p, dir_fd=f), lambda p: os.scandir(f), lambda p: os.stat(p, dir_fd=1), lambda p: os.mkdir(p, dir_fd=0)):
    for path in ("a", "", ".", "..", "/", "a/b", "//", "./."):
        try:
            call(path)
            print("check:", ascii(path))
        except (OSError, NotImplementedError, TypeError) as e:
            print("HELD:", ascii(path), getattr(e, "errno", None))
