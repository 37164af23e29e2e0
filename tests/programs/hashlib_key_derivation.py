import hashlib

password, salt = b"correct horse", bytes(range(16))
print("hash", hashlib.sha256(salt + password).hexdigest())
print("stretched", hashlib.pbkdf2_hmac("sha256", password, salt, 1000).hex())
print("long", hashlib.pbkdf2_hmac("sha1", password, salt, 10, dklen=40).hex())
print("scrypt", hashlib.scrypt(password, salt=salt, n=16, r=1, p=1).hex()[:32])
