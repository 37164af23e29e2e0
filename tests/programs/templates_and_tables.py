# needs: jinja2>=3.1 tabulate>=0.9 PyYAML>=6
import yaml
from jinja2 import Environment, StrictUndefined, Template, UndefinedError
from tabulate import tabulate

print(Template("Hi {{ name|upper }}!{% for n in items if n > 1 %} {{ loop.index }}:{{ '%.2f'|format(n) }}{% else %} none{% endfor %}").render(name="ann", items=[1, 2, 3.14159]))
environment = Environment(trim_blocks=True, undefined=StrictUndefined, autoescape=True)
print(environment.from_string("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m('<b>') }}{% set q = [3, 1]|sort|join('-') %}{{ q }}").render())
try:
    environment.from_string("{{ missing }}").render()
except UndefinedError as error:
    print(error)
rows = [["ann", 31, 1.5], ["bob", 4, None]]
for style in ("simple", "github", "grid", "psql"):
    print(tabulate(rows, headers=["name", "n", "x"], tablefmt=style, floatfmt=".2f"))
document = yaml.safe_load("a: 1\nb: [x, 2.5, null, yes]\nc:\n  - d: 2024-01-01\n    e: |\n      multi\n      line\nf: &anchor {g: 1}\nh: *anchor\n")
print(document, yaml.safe_dump({"z": [1, {"y": None}], "a": "ü: x"}, allow_unicode=True, sort_keys=True))
try:
    yaml.safe_load("a: [1")
except yaml.YAMLError as error:
    print(type(error).__name__)
