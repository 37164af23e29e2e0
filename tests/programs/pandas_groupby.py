# needs: pandas>=3
import pandas as pd

df = pd.DataFrame({
    "team": ["red", "blue", "red", "green", "blue", "red"],
    "player": ["a", "b", "c", "d", "e", "f"],
    "points": [10, 7, 13, 2, 9, 1],
    "minutes": [30.0, 20.5, 31, 5, 22, 3.5],
})
g = df.groupby("team")
print(g["points"].sum(), g.size(), g[["points", "minutes"]].mean(), g.points.agg(["min", "max", "count"]), g.ngroups)
print(g.agg(total=("points", "sum"), longest=("minutes", "max"), who=("player", lambda s: "".join(s))))
print(df.assign(share=df.points / g.points.transform("sum"), rank=g.points.rank(ascending=False)), g.cumcount().tolist(), g.head(1), g.first())
for name, part in g:
    print(name, part.player.tolist())
print(g.filter(lambda part: part.points.sum() > 10), g.get_group("red").index.tolist(), df.groupby(["team", df.points > 8]).size().unstack(fill_value=0))
print(df.pivot_table(index="team", values=["points", "minutes"], aggfunc="sum", margins=True), df.groupby(pd.cut(df.points, [0, 5, 10, 20]), observed=False).player.count(), pd.crosstab(df.team, df.points > 5))
print(df.groupby("team", sort=False).points.describe(), df.groupby("team").points.apply(lambda s: s.nlargest(1).iloc[0]), df.groupby("team").points.quantile(0.5), df.points.expanding().mean().round(3).tolist(), df.points.rolling(2).sum().tolist())
