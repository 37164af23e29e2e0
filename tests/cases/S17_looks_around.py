# S17: a walk over every object of the interpreter finds nothing of the host's
# expect: ok | timeout
# prints: looked at
import functools; print = functools.partial(print, flush=True)
import gc
texts = n = 0
for o in gc.get_objects():
    for r in gc.get_referents(o):
        n += 1
        if type(r) is str:
            texts += 1
            if "leakme" in r or "/root/" in r or "/tmp/slm" in r and r != "/tmp/slm":
                if "leakme" not in __import__("sys")._getframe().f_code.co_consts or r not in __import__("sys")._getframe().f_code.co_consts:
                    print("check: a text", len(r)) if "looked at" in r else print("FAIL:", ascii(r)[:80])
    if n > 400_000:
        break
print("looked at", n > 1000, texts > 100)
