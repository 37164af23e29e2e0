# R: pydantic/monty#116: a deeply nested value becomes the result, is shown, is printed, is raised
# expect: ok | error | crashed
x = []
for _ in range(200_000):
    x = [x]
x
# --- turn ---
# expect: ok | error | crashed
x = {}
for _ in range(200_000):
    x = {"k": x}
display(x)
# --- turn ---
# expect: error | crashed
x = ()
for _ in range(200_000):
    x = (x,)
raise ValueError(x)
