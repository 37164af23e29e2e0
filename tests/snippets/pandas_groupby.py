import numpy as np
import pandas as pd

df = pd.DataFrame({
    "date": pd.date_range("2024-01-01", periods=8, freq="15D"),
    "region": ["N", "S"] * 4,
    "sales": [100, 150, 120, np.nan, 90, 200, 130, 170],
})
df["sales"] = df["sales"].fillna(df["sales"].mean()).round(1)
monthly = df.groupby([df["date"].dt.to_period("M"), "region"])["sales"].agg(["sum", "count"])
print(monthly)
print(df.pivot_table(index="region", columns=df["date"].dt.month, values="sales", aggfunc="mean"))
merged = df.merge(pd.DataFrame({"region": ["N", "S"], "name": ["North", "South"]}), on="region")
print(merged.sort_values("sales", ascending=False).head(3)[["name", "sales"]].to_string(index=False))
print(df.set_index("date")["sales"].resample("ME").sum().to_dict())
