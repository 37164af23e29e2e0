# needs: pandas>=3
import pandas as pd

dates = pd.date_range("2024-01-30", periods=6, freq="D")
s = pd.Series(range(6), index=dates)
print(s, s["2024-02"], s.loc["2024-01-31":"2024-02-02"], s.resample("ME").sum(), s.resample("2D").mean(), s.shift(1), s.diff(), s.pct_change().round(3), s.asfreq("12h").head(3), s.index.day_name().tolist())
df = pd.DataFrame({"when": ["2024-03-01 10:00", "2023-12-25", "bad", None], "v": [1, 2, 3, 4]})
df["when"] = pd.to_datetime(df.when, errors="coerce", format="mixed")
print(df, df.dtypes, df.when.dt.year, df.when.dt.strftime("%d/%m/%y"), df.when.dt.quarter.tolist(), df.when.max(), df.dropna().when.dt.normalize(), (df.when - pd.Timestamp("2024-01-01")).dt.days)
t = pd.Timestamp("2024-02-29 12:34:56.789")
print(t, t.floor("h"), t + pd.DateOffset(years=1), t + pd.offsets.MonthEnd(), t + pd.offsets.BDay(2), t.isocalendar(), t.to_pydatetime(), t.day_name(), t.is_leap_year, t.quarter, pd.Timedelta("1 days 02:00") * 2, pd.Timedelta(hours=5).total_seconds(), pd.NaT, pd.isna(pd.NaT))
print(pd.period_range("2024-01", periods=3, freq="M"), pd.Period("2024Q1").end_time, pd.bdate_range("2024-05-03", "2024-05-08"), pd.date_range("2024-01-01", "2024-12-31", freq="QS"), pd.to_datetime([1704067200], unit="s"), pd.to_datetime("03/04/2024", dayfirst=True), pd.to_timedelta(["1h", "2min"]))
print(s.tz_localize("UTC").tz_convert("Asia/Tokyo").index[0], s.rolling("3D").sum().tolist(), s.groupby(s.index.month).sum(), s.between_time("00:00", "01:00").size, pd.merge_asof(pd.DataFrame({"t": dates[1:3], "a": [1, 2]}), pd.DataFrame({"t": dates[:1], "b": [9]}), on="t"))
