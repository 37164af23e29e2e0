import difflib

a = "one\ntwo\nthree\nfour\n".splitlines(keepends=True)
b = "one\ntwo and a half\nthree\nfive\nsix\n".splitlines(keepends=True)
print("".join(difflib.unified_diff(a, b, "a.txt", "b.txt", n=1)))
print("".join(difflib.ndiff(a, b)))
print("".join(difflib.context_diff(a, b, "a", "b")))
m = difflib.SequenceMatcher(None, "private Thread currentThread;", "private volatile Thread currentThread;")
print(round(m.ratio(), 6), m.get_opcodes(), m.find_longest_match())
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]), difflib.get_close_matches("x", ["abc"]), list(difflib.restore(difflib.ndiff(["a\n"], ["b\n"]), 2)))
