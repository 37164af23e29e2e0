# T03: a program that swallows BaseException is stopped all the same
# expect: timeout
def spin():
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
        finally:
            spin_again = True
spin()
