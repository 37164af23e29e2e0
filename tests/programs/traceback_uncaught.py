# Ends with an exception of its own: the last line of the traceback and the code must be right.
import json


class ConfigError(Exception):
    """What is wrong with a configuration."""


def load(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"bad configuration at line {error.lineno}, column {error.colno}") from error


print(load('{"ok": true}'))
print(load('[1, 2]'))
print("now a bad one")
print(load('{"ok": tru}'))
