# T09: a flood of host calls ends with the guest, and costs the host nothing lasting
# expect: timeout
import os
while True:
    try:
        os.stat("/nope")
    except OSError:
        pass
