import importlib
import importlib.util
import os
import sys

os.mkdir("pkg")
with open("helper.py", "w") as file:
    file.write("'''A helper.'''\nimport math\nVALUE = 42\n_private = 1\ndef area(r):\n    return round(math.pi * r * r, 3)\nprint('loading', __name__)\n")
with open("pkg/__init__.py", "w") as file:
    file.write("from .inner import thing\n__all__ = ['thing']\n__version__ = '1.0'\n")
with open("pkg/inner.py", "w") as file:
    file.write("from helper import VALUE as v\ndef thing():\n    return v + 1\nif __name__ == '__main__':\n    print('never')\n")
with open("broken.py", "w") as file:
    file.write("x = 1\ny = x +\n")
sys.path.insert(0, os.getcwd())
import helper
import helper as again
from helper import area
from pkg import *
import pkg.inner

print(helper.VALUE, area(2), again is helper, thing(), pkg.__version__, pkg.inner.__name__, helper.__doc__, "helper" in sys.modules, hasattr(helper, "_private"))
helper.VALUE = 0
importlib.reload(helper)
print(helper.VALUE, importlib.import_module("pkg.inner").thing(), importlib.util.find_spec("nope_nope") is None)
for code in ("import broken", "import nope.deep", "from helper import missing", "from pkg import zzz", "import helper.sub", "from .x import y"):
    try:
        exec(code)
    except Exception as error:
        print(code, "->", type(error).__name__, str(error).split(" (")[0])
print(__name__, sys.argv[1:], "os" in dir(), type(sys.path).__name__, sys.modules["math"].__name__, __import__("string").digits)
