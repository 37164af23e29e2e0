# T16: the guest ignores every signal it can and asks for alarms; no stop relies on them
# expect: timeout
import signal, faulthandler
held = 0
for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGKILL", "SIGSEGV", "SIGABRT"):
    try:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    except (AttributeError, OSError, ValueError):
        held += 1
for call in (lambda: signal.alarm(1), lambda: signal.setitimer(signal.ITIMER_REAL, 0.01), lambda: signal.pause(),
             lambda: faulthandler.dump_traceback_later(1), lambda: signal.sigwait([2]), lambda: signal.raise_signal(2)):
    try:
        call()
    except (AttributeError, OSError, ValueError, RuntimeError, KeyboardInterrupt):
        held += 1
print("HELD:", held)
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        continue
