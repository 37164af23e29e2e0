def check(value):
    if value < 0:
        raise ValueError(f"negative: {value}")
    return value ** 0.5


problems = []
for value in (4, -1, 9, -2):
    try:
        print(value, check(value))
    except ValueError as error:
        problems.append(error)
print(len(problems), "problems")
if problems:
    raise ExceptionGroup("some values were wrong", problems)
