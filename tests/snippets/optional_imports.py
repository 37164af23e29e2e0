try:
    import ujson as json
except ImportError:
    import json
try:
    import requests
    HAVE_REQUESTS = True
except ModuleNotFoundError as error:
    HAVE_REQUESTS = False
    print(error.name, "no network" in str(error))
import importlib.util

print(json.__name__, HAVE_REQUESTS, importlib.util.find_spec("torch"))
for name in ("tkinter", "cv2", "polars", "psycopg2", "plotly"):
    try:
        __import__(name)
    except ImportError as e:
        print(f"{type(e).__name__}: {e}")
from urllib.error import URLError
from urllib.request import urlopen

try:
    urlopen("https://example.org/data.csv", timeout=5)
except URLError as e:
    print(type(e).__name__, "no network" in str(e))
