import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
x = np.random.rand(60, 3)
y = (x[:, 0] > 0.5).astype(int)
a, b, c, d = train_test_split(x, y)
print(RandomForestClassifier(n_estimators=5).fit(a, c).predict_proba(b)[:3], KMeans(2, n_init=1).fit(x).inertia_)
