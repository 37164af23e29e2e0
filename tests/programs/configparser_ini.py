import configparser
import io

config = configparser.ConfigParser()
config.read_string("""
[DEFAULT]
retries = 3
base = /srv
[web]
; a comment
host = example.com
port: 8080
debug = yes
root = %(base)s/www
paths = one
    two
[empty]
flag
""".replace("flag\n", ""))
print(config.sections(), config["web"]["host"], config.getint("web", "port"), config.getboolean("web", "debug"), config["web"]["root"], config["web"]["paths"].split("\n"), config.get("web", "nope", fallback="?"), config["empty"]["retries"])
config["new"] = {"a": "1", "B": "two"}
config.set("web", "port", "9090")
config.remove_section("empty")
out = io.StringIO()
config.write(out)
print(out.getvalue())
print("web" in config, config.has_option("web", "HOST"), dict(config["new"]), config.options("new"))
for bad in ("config['zzz']", "config.getint('web', 'host')", "config.read_string('a = 1')", "config.read_string('[x]\\n[x]')", "config.get('web', 'zz')", "config.set('web', 'n', 5)", "config.read_string('[y]\\na = %(zz)s') or config['y']['a']"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error).splitlines()[0][:70])
