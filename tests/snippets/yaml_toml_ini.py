import configparser
import tomllib
import tomli_w
import yaml

config = yaml.safe_load("""
server:
  host: localhost
  ports: [8000, 8001]
debug: true
""")
print(config)
print(yaml.safe_dump({"b": [1, 2], "a": None}, sort_keys=True), end="")
toml = tomllib.loads('title = "x"\n[owner]\nname = "Tom"\nborn = 1979-05-27\n')
print(toml["owner"]["born"].year, tomli_w.dumps({"a": 1, "t": {"k": "v"}}).split())
ini = configparser.ConfigParser()
ini.read_string("[db]\nuser = me\nport = 5432\n")
print(ini["db"]["user"], ini.getint("db", "port"), ini.get("db", "name", fallback="none"))
