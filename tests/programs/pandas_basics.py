# needs: pandas>=3
import pandas as pd

df = pd.DataFrame({"name": ["Ann", "Bob", "Cy", "Dan"], "age": [31, 25, 40, None], "city": ["Oslo", "Rome", "Oslo", None]})
print(df, df.shape, df.dtypes, df.columns.tolist(), len(df))
print(df.head(2), df.tail(1), df["age"].mean(), df.age.max(), df.describe(), df.isna().sum())
print(df[df.age > 28], df.loc[0, "name"], df.iloc[-1], df.loc[df.city == "Oslo", ["name", "age"]], df.query("age < 35 and city == 'Rome'"))
df["senior"] = df.age > 30
df["age"] = df["age"].fillna(df["age"].median())
df = df.rename(columns={"name": "who"}).set_index("who")
print(df, df.index, df.loc["Ann"], "Bob" in df.index, df.drop("Cy"), df.drop(columns="city"), df.reset_index().columns)
print(df.sort_values("age", ascending=False), df.sort_index(), df.nlargest(2, "age"), df.age.rank(), df.city.value_counts(dropna=False), df.city.unique(), df.city.nunique())
print(df.age.apply(lambda a: a * 2), df.age.map({31: "x"}), df.age.astype(int).tolist(), df.age.clip(30, 35), df.age.between(26, 35), df.city.str.upper(), df.city.str.contains("s", na=False))
df.info(memory_usage=False)
s = pd.Series([3, 1, 2], index=list("abc"), name="s")
print(s, s["b"], s[s > 1], s.sum(), s.idxmax(), s.cumsum(), s.to_dict(), s + pd.Series({"a": 1, "z": 2}), s.agg(["min", "max"]), s.sort_values().index.tolist())
for bad in ("df['nope']", "df.loc['Zed']", "df.iloc[10]", "df.nope", "pd.DataFrame({'a': [1], 'b': [1, 2]})", "df.astype({'city': int})", "df.age + 'x'", "if df.senior: pass", "pd.concat([])", "pd.to_datetime('nonsense')"):
    try:
        exec(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error).splitlines()[0][:60])
