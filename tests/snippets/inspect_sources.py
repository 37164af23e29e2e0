import inspect
import linecache
import traceback
import warnings

def area(width, height=2):
    # width times height
    return width * height

class Shape:
    sides = 4

    def describe(self):
        return f"{self.sides} sides"

square = lambda x: x * x

print(inspect.getsource(area), end="")
print(inspect.getsource(Shape), end="")
print(inspect.getsource(Shape.describe), end="")
print(inspect.getsource(square), end="")
print(inspect.getsourcelines(Shape)[1], inspect.getsourcefile(area) == inspect.getfile(Shape))
linecache.clearcache()
linecache.checkcache()
try:
    area("a", None)
except TypeError:
    print(traceback.format_exc().splitlines()[-3].strip())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old way", DeprecationWarning)
shown = warnings.formatwarning(caught[0].message, caught[0].category, caught[0].filename, caught[0].lineno)
print(shown.splitlines()[1].strip())
