class Thing:
    pass
print(object(), Thing(), Thing().__init__, lambda: 0, (x for x in ()), id(object()), id([]), print, open)
print([id(Thing()) for _ in range(3)], hex(id(Thing)), sorted([Thing() for _ in range(3)], key=id))
# --- turn ---
kept = [Thing() for _ in range(1000)]
print(kept[-1], id(kept), {Thing(): 1, Thing(): 2})
Thing()
