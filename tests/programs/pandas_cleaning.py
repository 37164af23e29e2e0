# needs: pandas>=3
import numpy as np
import pandas as pd

raw = pd.DataFrame({
    "Name ": [" ann", "BOB ", "cy", "cy", None],
    "Price": ["$1,200.50", "85", "n/a", "n/a", "$3"],
    "Date": ["2024-01-02", "02/03/2024", "2024-13-01", "2024-13-01", ""],
    "Score": [1.0, np.nan, 100.0, 100.0, 3.0],
})
df = raw.copy()
df.columns = df.columns.str.strip().str.lower()
df["name"] = df.name.str.strip().str.title()
df["price"] = pd.to_numeric(df.price.str.replace(r"[$,]", "", regex=True), errors="coerce")
df["date"] = pd.to_datetime(df.date, errors="coerce", format="%Y-%m-%d")
df = df.drop_duplicates()
print(df, len(raw) - len(df), df.isna().mean())
print(df.dropna(), df.dropna(thresh=3), df.fillna({"price": 0, "name": "?"}), df.score.interpolate(), df.ffill(), df.score.where(df.score < 50), df.score.replace({100.0: -1}))
z = (df.score - df.score.mean()) / df.score.std()
print(z.round(4), df.score.quantile([0.25, 0.75]), df[z.abs() < 1], df.select_dtypes("number").corr().round(6))
text = pd.Series(["a-1", "b-22", "c", None])
print(text.str.split("-", expand=True), text.str.extract(r"(\w)-(\d+)"), text.str.len(), text.str.get(0), text.str.cat(sep="|"), text.str.findall(r"\d"), text.str.pad(5, fillchar="."), text.str.zfill(4), text.str[::-1])
category = pd.Series(["lo", "hi", "lo"], dtype=pd.CategoricalDtype(["lo", "hi"], ordered=True))
print(category, category.min(), category.cat.codes.tolist(), category.value_counts(), pd.array([1, None], dtype="Int64"), pd.Series([True, None], dtype="boolean"), df.convert_dtypes().dtypes)
print(np.where(df.price > 100, "dear", "cheap"), df.assign(band=np.select([df.price > 100, df.price > 10], ["high", "mid"], "low")).band.tolist(), df.eval("double = price * 2").double.tolist(), df.apply(lambda row: len(str(row["name"])), axis=1).tolist(), df.sample(2, random_state=1).index.tolist(), df.map(lambda v: type(v).__name__).iloc[0].tolist())
