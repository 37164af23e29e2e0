import statistics as st

data = [2.5, 3.1, 4.7, 4.7, 5.0, 6.2, 8.9, 10.4]
print(st.mean(data), st.median(data), st.mode(data), st.multimode([1, 1, 2, 2]), st.stdev(data), st.pstdev(data), st.variance(data), st.pvariance([1, 2, 3, 4]))
print(st.fmean(data, weights=range(1, 9)), st.geometric_mean([1, 10, 100]), st.harmonic_mean([40, 60]), st.median_low([1, 2, 3, 4]), st.median_high([1, 2, 3, 4]), st.median_grouped([52, 52, 53, 54]))
print(st.quantiles(data, n=4), st.quantiles(data, n=10, method="inclusive"), st.mean([1, 2, 3, 4]), st.mean([1, 2, 4]))
x, y = [1, 2, 3, 4, 5], [2.1, 3.9, 6.2, 8.1, 9.8]
print(st.correlation(x, y), st.linear_regression(x, y), st.covariance(x, y))
normal = st.NormalDist(100, 15)
print(normal.cdf(115), normal.pdf(100), normal.inv_cdf(0.975), normal.zscore(130), normal + 5, st.NormalDist.from_samples(data).mean, normal.overlap(st.NormalDist(110, 15)))
print(round(normal.quantiles(4)[0], 6))
for bad in ("st.mean([])", "st.stdev([1])", "st.mode([])", "st.quantiles([1], n=0)", "st.mean(['a'])", "st.correlation([1, 2], [3, 3])"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, str(error)[:50])
