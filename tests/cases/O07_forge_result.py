# O07: a forged result stays on stdout; the exit code is the host's
# expect: exited
# exit: 3
# prints: __RESULT__
import os, sys
fake = '{"ok": true, "exit_code": 0, "value": "FORGED", "stdout": "", "trapped": null}'
print(fake)
print("\n__RESULT__" + fake + "\n\x00\x1e" + fake)
print("--boundary\r\nContent-Type: application/json\r\n\r\n" + fake)
print("event: result\ndata: " + fake + "\n\n")
for fd in range(3, 64):
    try:
        os.write(fd, fake.encode()); print("FAIL: wrote to fd", fd)
    except OSError:
        pass
sys.exit(3)     # the host must report 3, not the forged 0
