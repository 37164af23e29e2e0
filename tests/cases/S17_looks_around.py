# S17: a walk over every object of the interpreter finds nothing of the host's
# expect: ok | timeout
# prints: looked at True True
import functools; print = functools.partial(print, flush=True)
import gc
canary, home, scratch = "".join(("leak", "me")), "".join(("/ro", "ot/")), "".join(("/tmp", "/slm"))
texts = n = 0
for o in gc.get_objects():
    for r in gc.get_referents(o):
        n += 1
        if type(r) is str:
            texts += 1
            if r not in (canary, home, scratch) and (canary in r or home in r or scratch in r):
                print("FAIL:", ascii(r)[:80])
    if n > 400_000:
        break
print("looked at", n > 1000, texts > 100)
