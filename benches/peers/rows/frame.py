import pandas as pd
print(pd.DataFrame({'a': [1, 2, 3], 'b': [4, 5, 6]}).sum().sum())
