# needs: pandas>=3
import io
import json
import os
import sqlite3

import pandas as pd

text = """id;name;price;when;flag
1;Pen;1,50;2024-01-05;yes
2;"Book; big";12,00;2024-02-11;no
3;;;2024-03-01;yes
"""
df = pd.read_csv(io.StringIO(text), sep=";", decimal=",", parse_dates=["when"], true_values=["yes"], false_values=["no"], index_col="id")
print(df, df.dtypes, df.to_csv(), df.to_csv(sep="\t", index=False, float_format="%.1f", date_format="%d.%m", na_rep="NA"))
print(df.to_json(orient="records", date_format="iso"), json.loads(df.to_json())["price"], df.to_html(border=0)[:120], df.to_string(index=False, na_rep="-"), df.price.to_frame().to_latex()[:30] if False else "")
df.to_csv("a.csv")
df.to_pickle("a.pkl")
df.reset_index().to_json("a.json", orient="records", lines=True)
print(sorted(os.listdir()), pd.read_csv("a.csv").equals(df.reset_index().assign(when=df.when.dt.strftime("%Y-%m-%d").values)), pd.read_pickle("a.pkl").equals(df), pd.read_json("a.json", lines=True).shape)
with sqlite3.connect("a.db") as db:
    df.drop(columns="when").to_sql("item", db)
    print(pd.read_sql("SELECT name, price * 2 AS twice FROM item WHERE price > ?", db, params=(5,)))
print(pd.read_csv(io.StringIO("a,b\n1,2\n3,4\n5,6"), usecols=["b"], nrows=2, skiprows=[1]), [len(chunk) for chunk in pd.read_csv(io.StringIO("x\n1\n2\n3"), chunksize=2)], pd.read_csv(io.StringIO("1 2\n3 4"), sep=r"\s+", header=None, names=["p", "q"]), pd.read_fwf(io.StringIO("ab  12\ncd   3"), header=None).values.tolist())
print(pd.read_csv(io.StringIO("a,b\n1,\n,x"), dtype={"b": str}, keep_default_na=False, na_values=[""]).isna().values.tolist(), pd.read_csv(io.StringIO("t\n1.000,5\n"), thousands=".", decimal=",", sep=";").t[0], df.memory_usage(index=False).tolist()[1:2])
for bad in (lambda: pd.read_csv("nope.csv"), lambda: pd.read_csv(io.StringIO("")), lambda: pd.read_csv(io.StringIO("a,b\n1,2,3,4\n1,2,3,4,5")), lambda: pd.read_csv(io.StringIO("a\n1"), usecols=["z"]), lambda: pd.read_json(io.StringIO("{bad")), lambda: pd.read_csv(io.StringIO("a\nx"), dtype={"a": int})):
    try:
        print(bad())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:80].split("] ")[-1])
