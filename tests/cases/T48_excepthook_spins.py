# T48: hooks for errors that never return
# expect: timeout
import sys
def spin(*args):
    while True:
        pass
sys.excepthook = sys.unraisablehook = spin
1 / 0
