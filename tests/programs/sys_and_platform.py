# What a program may learn of its interpreter without depending on which it is.
import os
import platform
import sys

print(sys.version_info >= (3, 11), sys.version_info.major, sys.implementation.name, sys.byteorder, sys.maxunicode, sys.float_info.max, sys.float_info.epsilon, sys.int_info.sizeof_digit > 0)
print(platform.python_implementation(), platform.python_version() == ".".join(map(str, sys.version_info[:3])), isinstance(platform.platform(), str), len(platform.architecture()))
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.stdout.encoding, sys.stdin.encoding, sys.getrecursionlimit() >= 1000, sys.flags.optimize, __debug__)
print(isinstance(os.getpid(), int), os.cpu_count() >= 1, os.path.isabs(os.getcwd()), os.listdir() == [], type(os.environ).__name__, os.urandom(4) != os.urandom(4))
sys.stdout.write("written\n")
sys.stdout.flush()
print("unflushed", end="")
print(" joined", file=sys.stdout)
print(sys.exc_info(), sys.getsizeof(1) > 0, callable(sys.exit), sys.call_tracing.__name__, sys._getframe().f_code.co_name)
sys.displayhook("shown as in a shell")
print("to stderr", file=sys.stderr)
print(len(sys.argv), sys.argv[1:], "site" in sys.modules or True, sys.hexversion > 0x030B0000)
