# T50: an exception whose text never ends
# expect: timeout
class E(Exception):
    def __str__(self):
        while True:
            pass
raise E
