# A small report with aligned columns, the way scripts print them.
import textwrap

rows = [("Widget", 4, 3.5), ("Gadget", 10, 12.25), ("Thingamajig of unusual length", 1, 100.0)]
widths = [max(len(str(row[i])) for row in rows) for i in range(3)]
print("+".join("-" * (w + 2) for w in widths))
for name, count, price in rows:
    print(f" {name:<{widths[0]}} | {count:>{widths[1]}} | {price:>{widths[2]}.2f}")
total = sum(count * price for _, count, price in rows)
print(f"{'Total':>{sum(widths)}}: {total:,.2f}")
text = """The Zen of Python, by Tim Peters. Beautiful is better than ugly. Explicit is better than
implicit. Simple is better than complex. Complex is better than complicated. Supercalifragilisticexpialidocious-words."""
print(textwrap.fill(text, 40))
print(textwrap.fill(text, 30, initial_indent="* ", subsequent_indent="  ", break_long_words=False))
print(textwrap.shorten(text, 50, placeholder=" [...]"))
print(textwrap.indent("a\n\nb\n", "> "), end="")
print(repr(textwrap.dedent("""
    def f():
        return 1
      # odd
    """)))
print(textwrap.wrap("a-b-c-d e", 3), textwrap.wrap("", 10))
