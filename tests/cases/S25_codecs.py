# S25: codecs, locale and error handlers that a cell poisons
# expect: ok | error
# spoils
import codecs, encodings, sys
codecs.register(lambda name: (_ for _ in ()).throw(SystemExit(0)))
for handler in ("strict", "replace", "surrogateescape", "backslashreplace", "ignore"):
    codecs.register_error(handler, lambda e: (_ for _ in ()).throw(SystemExit(0)))
encodings.search_function = codecs.lookup = None
# --- turn ---
# expect: error
raise ValueError("\ud800 \xff")
