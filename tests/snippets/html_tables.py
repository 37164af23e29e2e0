from io import StringIO
import pandas as pd

html = """
<table><thead><tr><th>City</th><th>Population</th></tr></thead>
<tbody><tr><td>Oslo</td><td>709,037</td></tr><tr><td>Bergen</td><td>291,940</td></tr></tbody></table>
"""
table = pd.read_html(StringIO(html))[0]
print(table)
print(table["Population"].sum())
print(table.to_html(index=False, border=0).splitlines()[0])
print(table.to_markdown(index=False))
