import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

rng = np.random.default_rng(1)
df = pd.DataFrame({"x": np.arange(50.0)})
df["y"] = 3 + 2 * df["x"] + rng.normal(size=50)
model = smf.ols("y ~ x", data=df).fit()
print(np.round(model.params.to_numpy(), 1), round(model.rsquared, 3), bool(model.pvalues["x"] < 0.01))
again = sm.OLS(df["y"], sm.add_constant(df[["x"]])).fit()
print(np.allclose(again.params.to_numpy(), model.params.to_numpy()), "R-squared" in str(model.summary()))
