# T49: the result's own repr never returns
# expect: timeout
class R:
    def __repr__(self):
        while True:
            pass
R()
