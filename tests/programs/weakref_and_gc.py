import gc
import weakref


class Thing:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("deleted", self.name)

    def hello(self):
        return f"hello {self.name}"


t = Thing("one")
ref = weakref.ref(t, lambda r: print("callback", r() is None))
proxy, method = weakref.proxy(t), weakref.WeakMethod(t.hello)
print(ref() is t, proxy.name, method()(), weakref.getweakrefcount(t) >= 2)
del t
print(ref(), method())
try:
    proxy.name
except ReferenceError as error:
    print(error)
cache = weakref.WeakValueDictionary()
a = cache["a"] = Thing("a")
keys = weakref.WeakKeyDictionary({a: 1})
everyone = weakref.WeakSet([a])
print(len(cache), len(keys), len(everyone))
del a
print(len(cache), len(keys), len(everyone))
x, y = Thing("x"), Thing("y")
x.other, y.other = y, x
del x, y
print("before collecting")
gc.collect()
print("after collecting")
weakref.finalize(f := Thing("f"), print, "finalized with", 1, sep="-")
del f
try:
    weakref.ref(5)
except TypeError as error:
    print(error)
