# needs: matplotlib>=3.10
# As in a script: show() at the end, where no window can open. It must not complain.
import matplotlib.pyplot as plt

plt.plot([1, 2, 3], [1, 4, 9])
plt.title("Squares")
plt.show()
print("shown", plt.get_backend().lower())
print(len(plt.get_fignums()), plt.gca().get_title() in ("Squares", ""))
print("done")
