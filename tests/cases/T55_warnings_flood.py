# T55: a flood of warnings, log lines and tracebacks
# expect: timeout
# dropped: stderr
import logging, traceback, warnings
warnings.simplefilter("always")
while True:
    warnings.warn("w" * 500)
    logging.error("e" * 500)
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
