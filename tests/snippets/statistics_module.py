import statistics as st

data = [2, 4, 4, 4, 5, 5, 7, 9]
print(st.mean(data), st.median(data), st.mode(data), st.pstdev(data), round(st.stdev(data), 4))
print(st.quantiles(data, n=4), st.multimode("aabbc"), round(st.geometric_mean([1, 10, 100]), 6), st.harmonic_mean([40, 60]))
line = st.linear_regression([1, 2, 3, 4], [3, 5, 7, 9])
print(line.slope, line.intercept, round(st.correlation([1, 2, 3], [2, 4, 7]), 4))
normal = st.NormalDist(100, 15)
print(round(normal.cdf(130), 4), round(normal.inv_cdf(0.5), 2))
try:
    st.mean([])
except st.StatisticsError as e:
    print(e)
