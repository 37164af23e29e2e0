import getpass
import os
import platform
import shutil
import sys
import webbrowser

print(getpass.getuser(), shutil.get_terminal_size().columns, sys.stdin.isatty(), sys.stdin.read() == "")
print(webbrowser.open("https://example.org"), os.cpu_count(), platform.python_implementation(), os.path.expanduser("~"))
try:
    age = int(input("Your age? "))
except EOFError as e:
    print(f"[{e}]")
try:
    getpass.getpass()
except EOFError as e:
    print(type(e).__name__)
breakpoint()
help(len)
