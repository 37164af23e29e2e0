import base64
import binascii
import hashlib
import hmac
import secrets
import uuid

print(hashlib.md5(b"hello").hexdigest(), hashlib.sha256(b"hello").hexdigest()[:16], hashlib.blake2b(b"x", digest_size=4).hexdigest())
print(hmac.new(b"key", b"message", hashlib.sha256).hexdigest()[:16], hmac.compare_digest("a", "a"))
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex()[:16], "sha3_256" in hashlib.algorithms_available)
print(base64.b64encode(b"\x00\xff data"), base64.urlsafe_b64decode("_-8="), base64.b32encode(b"hi"), binascii.hexlify(b"hi"))
print(len(secrets.token_hex(16)), secrets.token_urlsafe(8) != secrets.token_urlsafe(8), secrets.randbelow(10) < 10)
print(uuid.uuid5(uuid.NAMESPACE_DNS, "python.org"), uuid.uuid4().version, uuid.UUID(int=5))
with open("file.bin", "wb") as f:
    f.write(b"abc" * 1000)
with open("file.bin", "rb") as f:
    print(hashlib.file_digest(f, "sha1").hexdigest()[:12])
