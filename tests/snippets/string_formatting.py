import string
import textwrap

value, name = 1234567.891, "Ada"
print(f"{value:,.2f} {value:.3e} {value:>15.1f} {value:<15.0f}| {255:#x} {255:08b} {0.256:.1%}")
print(f"{name!r:>10} {name:^9} {name:*<6} {name=} {'nested ' + f'{1 + 1}'}")
print("{0} {1} {0} {k[a]}".format("x", "y", k={"a": 5}), "%-5s|%05.1f|%+d" % ("ab", 3.14159, 7))
print(string.Template("$who likes $$5 ${what}").substitute(who="Tim", what="tea"))
print("Hello World".swapcase(), "a-b-c".rsplit("-", 1), "straße".casefold(), "x".zfill(3), "tab\tstop".expandtabs(4))
print("naïve café".encode("utf-8"), "ÅÄÖ".lower(), "abc".translate(str.maketrans("ab", "12")))
print(textwrap.fill("The quick brown fox jumps over the lazy dog.", width=20))
print(textwrap.dedent("""
    indented
      more
""").strip(), "|", textwrap.shorten("too many words in here", 14))
