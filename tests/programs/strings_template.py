from string import Template, Formatter, ascii_lowercase, digits, punctuation, capwords

t = Template("$who likes ${what}s; costs $$5")
print(t.substitute(who="Tim", what="kung fu"))
print(t.safe_substitute(who="Tim"))
try:
    t.substitute(who="Tim")
except KeyError as error:
    print("missing", error)
try:
    Template("bad $ sign").substitute()
except ValueError as error:
    print(error)
print(list(Formatter().parse("a{b!r:>{w}}c{{d}}{e.f[0]}")))
print(Formatter().vformat("{0} {x}", (1,), {"x": 2}))
print(ascii_lowercase, digits, punctuation, capwords("hello big   world"))


class Upper(Formatter):
    def format_field(self, value, spec):
        return super().format_field(value, spec).upper() if spec != "raw" else str(value)


print(Upper().format("{} {:raw} {:>6}", "abc", "def", "gh"))
