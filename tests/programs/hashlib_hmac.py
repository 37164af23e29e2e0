import base64
import binascii
import hashlib
import hmac
import zlib

message = "The quick brown fox jumps over the lazy dog".encode()
for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s"):
    h = hashlib.new(name, message)
    print(name, h.digest_size, h.block_size, h.hexdigest())
h = hashlib.sha256()
for chunk in (b"a", b"bc", b""):
    h.update(chunk)
copy = h.copy()
copy.update(b"d")
print(h.hexdigest() == hashlib.sha256(b"abc").hexdigest(), copy.hexdigest()[:16], hashlib.shake_128(b"x").hexdigest(8), hashlib.blake2b(b"x", digest_size=8, key=b"k", salt=b"s").hexdigest())
print(hmac.new(b"key", message, "sha256").hexdigest(), hmac.compare_digest("a", "a"), hmac.digest(b"k", b"m", "md5").hex())
print(hashlib.algorithms_guaranteed >= {"sha256", "md5"})
print(base64.b64encode(message), base64.b64decode("aGk="), base64.urlsafe_b64encode(b"\xfb\xff"), base64.b32encode(b"hi"), base64.b16encode(b"hi"), base64.b85encode(b"hello"), base64.a85encode(b"hello"), base64.encodebytes(b"x" * 60))
print(binascii.hexlify(b"abc", "-"), binascii.unhexlify("616263"), binascii.crc32(b"abc"), zlib.crc32(b"abc"), binascii.b2a_base64(b"abc"), binascii.crc_hqx(b"abc", 0))
with open("f.bin", "wb") as file:
    file.write(b"0" * 100_000)
with open("f.bin", "rb") as file:
    print(hashlib.file_digest(file, "sha1").hexdigest())
for bad in (lambda: hashlib.sha256("text"), lambda: base64.b64decode("abc"), lambda: base64.b64decode("a$b=", validate=True), lambda: binascii.unhexlify("abc"), lambda: base64.b32decode("1")):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__)
