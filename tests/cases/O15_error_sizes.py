# O15: errors with texts, names and arguments of 100 MiB
# expect: error
raise ValueError("v" * (100 << 20))
# --- turn ---
# expect: error
raise type("N" * (5 << 20), (Exception,), {})("m")
# --- turn ---
# expect: error
a = []
a.append(a)
raise KeyError({"k": a, "x" * (10 << 20): 1})
# --- turn ---
# expect: error
class E(Exception):
    def __str__(self):
        raise RecursionError
raise E
