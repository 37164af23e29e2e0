import sys

print("checking")
problems = ["one", "two", "three"]
for number, problem in enumerate(problems, 1):
    print(number, problem)
print("problems", len(problems), file=sys.stderr)
sys.exit(len(problems))
