# needs: beautifulsoup4>=4.12 lxml>=5
from bs4 import BeautifulSoup
from lxml import etree, html

PAGE = """<html><head><title>Shop &amp; Co</title></head><body><div id="main" class="a b">
<h1>Prices</h1><ul><li data-p="1.5">Pen</li><li data-p="12">Book<br>large</li><li>Cup</ul>
<table><tr><th>k</th><th>v</th></tr><tr><td>x</td><td>1</td></tr></table><a href="/next?p=2">next</a></body>"""
for parser in ("html.parser", "lxml"):
    soup = BeautifulSoup(PAGE, parser)
    print(parser, soup.title.string, [li.get_text(" ", strip=True) for li in soup.find_all("li")], soup.select_one("#main.a > h1").text, soup.a["href"], soup.find("div")["class"], [li.get("data-p") for li in soup.select("li")])
print([[c.text for c in row.find_all(["td", "th"])] for row in soup.find_all("tr")], soup.find("nope"), soup.h1.find_next_sibling().name, soup.li.parent.name)
tree = html.fromstring(PAGE)
print(tree.xpath("//li/@data-p"), tree.xpath("string(//title)"), tree.xpath("count(//td)"), [e.tag for e in tree.xpath("//div/*")])
root = etree.fromstring("<r><i n='1'>a</i><i n='2'/></r>")
print(etree.tostring(root, pretty_print=True).decode(), root.xpath("i[@n='2']")[0].get("n"), etree.XPath("//i")(root)[0].text)
try:
    etree.fromstring("<a><b></a>")
except etree.XMLSyntaxError as error:
    print(str(error)[:40])
