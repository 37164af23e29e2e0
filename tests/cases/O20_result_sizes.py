# O20: results of every type that are larger than a result may be
# expect: ok
"t" * (100 << 20)
# --- turn ---
# expect: ok
list(range(5_000_000))
# --- turn ---
# expect: ok | timeout
import pandas as pd
pd.set_option("display.max_rows", None)
pd.DataFrame({"a": range(30_000), "b": "x" * 200})
