# T11: finalizers that spin or resurrect cannot hold the host after the cell
# expect: ok
# prints: done
class Z:
    def __del__(self):
        try:
            while True:
                pass
        except BaseException:
            pass
        globals()["z"] = Z()
z = Z()
print("done")
