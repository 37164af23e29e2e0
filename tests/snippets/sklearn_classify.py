from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
model.fit(X_train, y_train)
predicted = model.predict(X_test)
print(X.shape, round(accuracy_score(y_test, predicted), 2) >= 0.9)
print(confusion_matrix(y_test, predicted).sum(axis=1))
print(cross_val_score(model, X, y, cv=5).mean() > 0.9)
