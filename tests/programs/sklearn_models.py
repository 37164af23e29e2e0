# needs: scikit-learn>=1.5 numpy>=2
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

iris = load_iris()
X, y = iris.data, iris.target
train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
print(train.shape, test[0], iris.target_names, y_test[:5])
for model in (make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)), DecisionTreeClassifier(max_depth=2, random_state=0)):
    model.fit(train, y_train)
    print(type(model).__name__, round(accuracy_score(y_test, model.predict(test)), 4), confusion_matrix(y_test, model.predict(test)).tolist())
line = LinearRegression().fit(np.arange(5.0)[:, None], [1, 3, 5, 7, 9.5])
print(np.round(line.coef_, 8), round(line.intercept_, 8), round(mean_squared_error([1, 2], [1, 3]), 4), round(line.score(np.arange(5.0)[:, None], [1, 3, 5, 7, 9.5]), 8))
clusters = KMeans(3, n_init=1, random_state=0).fit(X)
print(sorted(np.bincount(clusters.labels_).tolist()), round(clusters.inertia_, 3), StandardScaler().fit_transform([[1.0], [3]]).ravel())
