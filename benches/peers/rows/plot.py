import io
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [1, 4, 9])
plt.title("Squares")
file = io.BytesIO()
plt.savefig(file, format="png")
assert file.getvalue().startswith(b"\x89PNG")
plt.close()
