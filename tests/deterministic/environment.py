import locale, os, platform, sys
print(dict(os.environ), os.getpid(), platform.uname(), sys.path, os.getcwd(), locale.getpreferredencoding(), sys.getswitchinterval(), sys.getrefcount(None) > 0)
print(sorted(sys.modules)[:20], len(sys.modules), sys.maxsize, sys.getallocatedblocks() > 0)
