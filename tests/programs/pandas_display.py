# needs: pandas>=3
import numpy as np
import pandas as pd

wide = pd.DataFrame(np.arange(60).reshape(3, 20), columns=[f"column{n}" for n in range(20)])
print(wide)
print(pd.DataFrame({"n": range(100)}))
print(pd.Series(range(70), name="long"))
print(pd.DataFrame(), pd.DataFrame({"a": []}), pd.Series(dtype=float), pd.DataFrame(columns=["x", "y"]))
print(pd.DataFrame({"t": ["x" * 80], "f": [1e-10], "g": [123456789.123], "h": [1e20], "b": [True], "n": [None]}))
print(pd.DataFrame({"f": [0.1, 0.123456789, 100]}), pd.Series([1e6, 1.5]), pd.Series([0.00001, 1]), pd.Series([1.0, 2.0]), pd.Series(["a", 1, None]))
with pd.option_context("display.max_rows", 4, "display.precision", 2, "display.width", 40):
    print(pd.DataFrame({"n": range(10), "f": np.linspace(0, 1, 10)}))
print(repr(pd.Index([1, 2])), pd.RangeIndex(3), pd.DataFrame({"a": [1]}, index=["r"])._repr_html_()[:90], wide.iloc[:, :2].style.__class__.__name__ if False else "", pd.Series([[1], {"k": 1}]))
print(pd.DataFrame({("a", "x"): [1], ("a", "y"): [2], ("b", "x"): [3]}), pd.DataFrame({"é日本": ["ü", "日本語"]}), pd.Series([1, 2], index=pd.to_datetime(["2024-01-01", "2024-01-02"])))
