class E(Exception):
    pass
try:
    raise E(object(), {object()})
except E as e:
    print(repr(e), e.__traceback__)
raise E(lambda: 0)
