# O18: 100 MiB are printed, and the program goes on to its end
# expect: ok
# dropped: stdout
for _ in range(1000):
    print("y" * 100_000)
assert True
"the end"
