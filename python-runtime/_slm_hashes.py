"""`hashlib.pbkdf2_hmac`, which the library takes from OpenSSL alone.

Depends on `_slm_wire`. Each round is one call of the interpreter's own HMAC, so 100,000 rounds take some 0.3 s.
"""

import hashlib as _hashlib
import hmac as _hmac

from _slm_wire import PRISTINE as __builtins__

try:
    import _hmac as _rounds
except ImportError:
    _rounds = None


def install():
    """Puts it in place where it is missing. Once, before the snapshot."""
    if not hasattr(_hashlib, "pbkdf2_hmac"):
        _hashlib.pbkdf2_hmac = pbkdf2_hmac


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Password based key derivation function 2 (PKCS #5 v2.0) with HMAC as pseudorandom function."""
    if not isinstance(hash_name, str):
        raise TypeError(hash_name)
    password, salt = bytes(memoryview(password)), bytes(memoryview(salt))
    size = _hashlib.new(hash_name).digest_size
    dklen = size if dklen is None else dklen
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    if dklen < 1:
        raise ValueError("key length must be greater than 0.")
    once = getattr(_rounds, "compute_" + hash_name.lower().replace("-", "_"), None)
    if once is None:
        def once(key, message):
            return _hmac.digest(key, message, hash_name)
    key = b""
    for block in range(1, -(-dklen // size) + 1):
        part = once(password, salt + block.to_bytes(4, "big"))
        mixed = int.from_bytes(part, "big")
        for _ in range(iterations - 1):
            part = once(password, part)
            mixed ^= int.from_bytes(part, "big")
        key += mixed.to_bytes(size, "big")
    return key[:dklen]
