# S17: a walk over every object of the interpreter finds nothing of the host's
# expect: ok | timeout
# prints: looked at True True
import functools; print = functools.partial(print, flush=True)
import gc, sys
canary, home, scratch = "".join(("leak", "me")), "".join(("/ro", "ot/")), "".join(("/tmp", "/slm"))
own = (canary, home, scratch)
todo, seen, texts = [sys.modules, gc.get_objects(), sys._getframe()], set(), 0
while todo and len(seen) < 250_000:
    o = todo.pop()
    if id(o) in seen:
        continue
    seen.add(id(o))
    if type(o) is str:
        texts += 1
        if o not in own and any(word in o for word in own):
            print("FAIL:", ascii(o)[:80])
    elif o is not seen and o is not todo:
        todo += gc.get_referents(o)
print("looked at", len(seen) > 100_000, texts > 10_000)
