# O04: terminal escapes arrive as they are in the outcome (the command line makes them inert)
# expect: ok
import sys
for s in ("\x1b]0;pwned title\x07", "\x1b]52;c;Y2xpcA==\x07", "\x1b[2J\x1b[H", "\x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\",
          "\x1bP$q\"p\x1b\\", "\x9b31m", "\r\x1b[Kfake prompt$ ", "\u202egnp.exe"):
    sys.stdout.write(s + "\n")
