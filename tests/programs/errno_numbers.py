# The number of an error is the platform's, its class and words are Python's.
import errno
import os

for name in ("/no/such/file", "/", "."):
    try:
        open(name)
    except OSError as error:
        print(type(error).__name__, error.errno, error)
print(errno.ENOENT, errno.EEXIST, errno.EACCES, errno.ENOTEMPTY, errno.EISDIR, errno.EPIPE, errno.EAGAIN)
print(errno.errorcode[errno.ENOENT], os.strerror(errno.EACCES), OSError(errno.EEXIST, "x").__class__.__name__)
