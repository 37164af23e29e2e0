# R: wasmer CVE-2024-38358: a link that the guest makes leads out of its folder
# expect: ok
# prints: HELD:
import os, pathlib
for target in ("/", "..", "../..", "/etc", "/usr/local/lib", ".", "/work/l"):
    for make in (lambda: os.symlink(target, "/work/l"), lambda: os.symlink(target, "/work/l", target_is_directory=True), lambda: pathlib.Path("/work/l").symlink_to(target), lambda: pathlib.Path("/work/l").hardlink_to(target)):
        try:
            make()
            print("FAIL: linked", target, os.listdir("/work/l"))
            os.unlink("/work/l")
        except (OSError, NotImplementedError, AttributeError) as e:
            print("HELD:", target, getattr(e, "errno", None))
