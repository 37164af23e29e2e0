import pandas as pd
df = pd.DataFrame({"a": range(100)})
print(df.sample(5), pd.Timestamp.now(), df.sample(frac=1).index[:5].tolist(), pd.Timestamp.today(), hash(df.columns[0]))
df
# --- turn ---
print(df.sample(3), pd.util.hash_pandas_object(df.a).sum())
