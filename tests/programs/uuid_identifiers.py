import uuid

print(uuid.uuid5(uuid.NAMESPACE_DNS, "python.org"), uuid.uuid3(uuid.NAMESPACE_URL, "http://x"), uuid.UUID(int=0))
u = uuid.UUID("12345678-1234-5678-1234-567812345678")
print(u.hex, u.int, u.bytes.hex(), u.bytes_le.hex(), u.fields, u.urn, u.version, u.variant, repr(u))
v4 = uuid.uuid4()
print(v4.version, v4 != uuid.uuid4(), len(str(v4)), uuid.UUID(str(v4)) == v4, uuid.UUID("{12345678123456781234567812345678}") == u, u < uuid.UUID(int=2 ** 127), hash(u) == hash(uuid.UUID(u.hex)))
print(uuid.uuid1().version, sorted([uuid.UUID(int=2), uuid.UUID(int=1)])[0])
for bad in ("x", "1234", "12345678-1234-5678-1234-56781234567g"):
    try:
        uuid.UUID(bad)
    except ValueError as error:
        print(error)
