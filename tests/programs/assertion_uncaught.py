# Tests as models write them: bare asserts, the last of which fails.
def slugify(text):
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


assert slugify("Hello, World!") == "hello-world"
print("first ok")
assert slugify("  A  b ") == "a-b", slugify("  A  b ")
print("second ok")
assert slugify("") == ""
print("third ok")
assert slugify("Ünïcode & more") == "unicode-more", f"got {slugify('Ünïcode & more')!r}"
print("not reached")
