import difflib

before = "one\ntwo\nthree\nfour\n".splitlines(keepends=True)
after = "one\ntwo and a half\nthree\nfive\n".splitlines(keepends=True)
print("".join(difflib.unified_diff(before, after, "before.txt", "after.txt")), end="")
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]))
print(round(difflib.SequenceMatcher(None, "kitten", "sitting").ratio(), 4))
print([line for line in difflib.ndiff(["a"], ["b"])])
