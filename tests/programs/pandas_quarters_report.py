# needs: pandas>=3
# The report that people ask for: revenue by department and quarter, with growth.
import io

import pandas as pd

CSV = """date,department,revenue,cost
2024-01-15,Sales,25000,18000
2024-02-20,Sales,31000,20000
2024-04-02,Sales,50000,30500
2024-05-20,Marketing,41000,39000
2024-07-09,Marketing,12000.50,9000
2024-08-30,Sales,27500,21000
2024-11-11,Marketing,60000,41000
2024-12-24,Sales,80000,52000
"""
df = pd.read_csv(io.StringIO(CSV), parse_dates=["date"])
df["quarter"] = df.date.dt.to_period("Q")
df["profit"] = df.revenue - df.cost
report = df.groupby(["department", "quarter"])[["revenue", "profit"]].sum()
print(report)
table = report.revenue.unstack(fill_value=0)
print(table.to_string(float_format=lambda v: f"{v:,.0f}"))
print((table.pct_change(axis=1) * 100).round(1).replace([float("inf")], float("nan")))
best = report.groupby("department").profit.idxmax()
for department, (_, quarter) in best.items():
    print(f"{department}: best quarter {quarter} with {report.loc[(department, quarter), 'profit']:,.2f}")
summary = df.groupby("department").agg(n=("revenue", "size"), revenue=("revenue", "sum"), margin=("profit", lambda p: p.sum()))
summary["margin"] = (summary.margin / summary.revenue).map("{:.1%}".format)
summary.loc["Total"] = [summary.n.sum(), summary.revenue.sum(), f"{df.profit.sum() / df.revenue.sum():.1%}"]
print(summary)
print(df.set_index("date").revenue.resample("QE").sum().cumsum())
