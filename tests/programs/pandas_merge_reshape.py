# needs: pandas>=3
import pandas as pd

orders = pd.DataFrame({"id": [1, 2, 3, 4], "customer": ["c1", "c2", "c1", "c9"], "amount": [10.0, 20, 5, 8]})
customers = pd.DataFrame({"customer": ["c1", "c2", "c3"], "name": ["Ann", "Bob", "Cy"]})
for how in ("inner", "left", "right", "outer"):
    print(how, orders.merge(customers, how=how, on="customer"))
print(orders.merge(customers, how="outer", indicator=True)["_merge"].tolist(), orders.set_index("customer").join(customers.set_index("customer")), pd.merge(orders, orders, on="customer", suffixes=("_l", "_r")).shape)
wide = pd.DataFrame({"day": ["mon", "tue"], "north": [1, 2], "south": [3, 4]})
long = wide.melt(id_vars="day", var_name="region", value_name="sales")
print(long, long.pivot(index="day", columns="region", values="sales"), long.set_index(["day", "region"]).unstack(), long.set_index(["day", "region"]).loc[("mon", "south")])
print(pd.concat([wide, wide], ignore_index=True), pd.concat([wide.set_index("day"), wide.set_index("day").add_suffix("2")], axis=1), pd.concat({"a": wide, "b": wide}).index.tolist(), wide.T)
stacked = wide.set_index("day").stack()
print(stacked, stacked.index.names, wide.explode("north"), pd.DataFrame({"k": [1, 2], "v": [["a", "b"], []]}).explode("v"), wide.set_index("day").sum(axis=1), wide.drop_duplicates("day"), orders.duplicated("customer").tolist())
multi = pd.DataFrame({"x": range(4)}, index=pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["k", "n"]))
print(multi, multi.loc["a"], multi.xs(2, level="n"), multi.groupby(level="k").sum(), multi.swaplevel().sort_index(), multi.reset_index())
print(pd.get_dummies(wide.day), pd.cut([1, 5, 9], bins=3, labels=["lo", "mid", "hi"]), pd.qcut(range(6), 3).codes, pd.factorize(["b", "a", "b"]), wide.to_dict("records"), pd.DataFrame.from_dict({"r": [1, 2]}, orient="index", columns=["a", "b"]), pd.json_normalize([{"a": {"b": 1}, "c": 2}]))
