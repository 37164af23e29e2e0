from jinja2 import Environment, StrictUndefined, Template

template = Template("""Dear {{ name|title }},
{% for item in items if item.qty > 0 -%}
* {{ item.name }} x{{ item.qty }}{{ ", last one!" if item.qty == 1 }}
{% else -%}
nothing
{% endfor -%}
Total: {{ "%.2f"|format(items|sum(attribute="qty")) }}""")
print(template.render(name="ann lee", items=[{"name": "tea", "qty": 2}, {"name": "mug", "qty": 1}, {"name": "jam", "qty": 0}]))
env = Environment(undefined=StrictUndefined, autoescape=True)
print(env.from_string("{{ text }}").render(text="<b>"))
try:
    env.from_string("{{ nothing }}").render()
except Exception as e:
    print(type(e).__name__, e)
