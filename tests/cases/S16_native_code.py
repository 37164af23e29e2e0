# S16: no foreign functions, and no libraries of the cell's own
# expect: ok
# prints: HELD: ctypes
import importlib.machinery, importlib.util
open("/work/x.so", "wb").write(b"\x7fELF" + bytes(1000))
open("/work/y.wasm", "wb").write(b"\0asm\1\0\0\0")
def extension(path):
    loader = importlib.machinery.ExtensionFileLoader("x", path)
    return loader.create_module(importlib.util.spec_from_file_location("x", path, loader=loader))
for name, f in {"ctypes": lambda: __import__("ctypes").CDLL(None), "_ctypes": lambda: __import__("_ctypes").dlopen("x", 0), "cffi": lambda: __import__("cffi").FFI().dlopen(None), "so": lambda: extension("/work/x.so"), "wasm": lambda: extension("/work/y.wasm"), "dl": lambda: __import__("_imp").create_dynamic(None), "numpy": lambda: __import__("numpy").ctypeslib.load_library("x.so", "/work"),
                "interpreters": lambda: __import__("_interpreters").create(), "sqlite": lambda: __import__("sqlite3").connect(":memory:").enable_load_extension(True)}.items():
    try:
        print("FAIL:", name, f())
    except (ImportError, AttributeError, OSError, TypeError, RuntimeError, Exception) as e:
        print("HELD:", name, type(e).__name__)
