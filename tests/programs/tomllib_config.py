import tomllib

TEXT = '''
title = "TOML \\u00e9"
[owner]
name = 'Tom'
born = 1979-05-27T07:32:00-08:00
day = 1979-05-27
at = 07:32:00
[database]
ports = [8000, 8001, 0xFF, 1_000]
ratio = [0.5, 1e3, inf, -nan]
enabled = true
temp = { cpu = 79.5, case = 72.0 }
[servers.alpha]
ip = "10.0.0.1"
[[products]]
name = "Hammer"
[[products]]
name = "Nail"
"quoted key" = """
multi
line"""
a.b.c = 1
'''
data = tomllib.loads(TEXT)
for key, value in data.items():
    print(key, value)
print(type(data["owner"]["born"]).__name__, data["owner"]["born"].isoformat(), tomllib.loads("x = 1.10", parse_float=str))
for bad in ("a = ", "a = 1\na = 2", "[a]\n[a]", "a = 'x", "a = 01", "= 1", "a = {b = 1", "a.b = 1\na = 2"):
    try:
        tomllib.loads(bad)
    except tomllib.TOMLDecodeError as error:
        print(repr(bad), str(error)[:60])
