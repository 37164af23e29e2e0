import os, secrets, uuid
print(uuid.uuid4(), uuid.uuid1(), uuid.getnode(), secrets.token_hex(8), secrets.randbelow(10 ** 9), os.urandom(16).hex())
