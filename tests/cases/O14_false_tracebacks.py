# O14: frames that claim to lie in the host's files show nothing of them
# expect: error
# lacks: root:
code = compile("\n\nraise ValueError(open)", "/etc/passwd", "exec")
exec(code)
# --- turn ---
# expect: error
import linecache
linecache.cache["/etc/passwd"] = (1, None, ["forged\n"], "/etc/passwd")
raise SyntaxError("bad", ("/etc/passwd", 1, 1, None, 2 ** 31 - 1, -5))
# --- turn ---
# expect: error
class T(tuple):
    pass
e = SyntaxError("bad")
e.filename, e.lineno, e.offset, e.text, e.end_lineno = object(), 2 ** 200, -1, "x" * (10 << 20), "no"
raise e
# --- turn ---
# expect: error
class E(Exception):
    __traceback__ = property(lambda self: 1 / 0)
    __cause__ = property(lambda self: self)
    __class__ = property(lambda self: int)
raise E
