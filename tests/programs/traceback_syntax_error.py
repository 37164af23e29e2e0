# The program itself does not compile: nothing of it runs.
print("before")
print("is not printed either")
values = [1, 2, 3
for value in values:
    print(value)
