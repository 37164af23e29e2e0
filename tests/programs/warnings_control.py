import sys
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("careful")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    eval("(1)()", {}) if False else warnings.warn("later", FutureWarning)
    print([(w.category.__name__, str(w.message)) for w in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        warnings.warn("now an error", UserWarning)
    except UserWarning as error:
        print("raised", error)
warnings.filterwarnings("ignore", message="quiet.*")
warnings.warn("quiet please")


class Mine(UserWarning):
    pass


print(warnings.formatwarning("text", Mine, "file.py", 3, "source line"))
print(len(warnings.filters) > 0, issubclass(Mine, Warning))
warnings.showwarning = lambda message, category, *rest: print("shown", category.__name__, message)
warnings.warn("through the hook", Mine)
print("to stderr", file=sys.stderr)
