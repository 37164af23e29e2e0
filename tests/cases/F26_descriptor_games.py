# F26: descriptors that are duplicated, renumbered and closed, those of the folders included
# expect: ok | error
# spoils
import functools; print = functools.partial(print, flush=True)
import os
f = os.open("/work/f", os.O_CREAT | os.O_RDWR)
for name, call in {"dup": lambda: [os.dup(f) for _ in range(1000)], "dup2 far": lambda: os.dup2(f, 2 ** 31 - 1), "dup2 1000": lambda: os.dup2(f, 1000), "dup2 -1": lambda: os.dup2(f, -1), "dup2 self": lambda: os.dup2(f, f), "dup2 closed": lambda: os.dup2(999, f), "fdopen": lambda: [os.fdopen(f, closefd=False) for _ in range(200)],
                   "onto stdout": lambda: os.dup2(f, 1), "close far": lambda: os.close(2 ** 31 - 1), "closerange": lambda: os.closerange(10, 10_000)}.items():
    try:
        call()
        os.write(2, b"check: %s\n" % name.encode())
    except (OSError, OverflowError, ValueError, AttributeError) as e:
        os.write(2, b"HELD: %s %s\n" % (name.encode(), type(e).__name__.encode()))
# --- turn ---
# expect: ok | error
import os
for fd in (7, 6, 5, 4, 3):
    for call in (lambda: os.dup2(fd, 3), lambda: os.write(fd, b"x"), lambda: os.read(fd, 10), lambda: os.ftruncate(fd, 0), lambda: os.close(fd), lambda: os.close(fd)):
        try:
            call()
        except (OSError, AttributeError):
            pass
# --- turn ---
# expect: ok | error
import os
try:
    open("/etc/passwd").read()
    print("FAIL: read a host file")
except OSError as e:
    os.write(2, b"HELD: %d\n" % e.errno)
