"""`pbkdf2_hmac` beside OpenSSL's."""

import hashlib
import unittest

import guest  # noqa: F401  sets the path
from _slm_hashes import pbkdf2_hmac


class Pbkdf2(unittest.TestCase):
    def test_keys_are_openssls(self):
        for name in ("sha1", "sha256", "SHA512", "md5", "sha3_256", "blake2s"):
            for password, salt, rounds, length in (
                (b"password", b"salt", 1, None), (b"p" * 200, b"", 3, 70), (bytearray(b"x"), memoryview(b"yz"), 17, 5),
            ):
                self.assertEqual(pbkdf2_hmac(name, password, salt, rounds, length),
                                 hashlib.pbkdf2_hmac(name, password, salt, rounds, length), (name, length))

    def test_what_makes_no_sense_is_refused(self):
        for args, kind in (((b"sha1", b"", b"", 1), TypeError), (("sha1", "text", b"", 1), TypeError), (("sha1", b"", b"", 0), ValueError),
                           (("sha1", b"", b"", 1, 0), ValueError), (("nope", b"", b"", 1), ValueError)):
            with self.assertRaises(kind):
                pbkdf2_hmac(*args)
