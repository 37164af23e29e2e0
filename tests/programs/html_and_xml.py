import html
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from xml.sax.saxutils import escape, quoteattr

print(html.escape("<a href='x'>&\"</a>"), html.unescape("&lt;&eacute;&#x20AC;&amp;amp;&nosuch;&#65;"), escape("a<b>&c"), quoteattr('say "x"'))


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs).get("href"))

    def handle_data(self, data):
        self.text.append(data.strip())


parser = Links()
parser.feed('<p>Hi &amp; <a href="/x?a=1&amp;b=2">one</a><br/><A HREF=two>2</A><!-- no --></p>')
print(parser.found, [t for t in parser.text if t])
XML = """<?xml version="1.0"?>
<catalog xmlns:x="urn:x"><!-- c -->
  <book id="1" x:lang="en"><title>A &amp; B</title><price>10.5</price></book>
  <book id="2"><title>Ünï</title><price>7</price><tag/><tag>t</tag></book>
</catalog>"""
root = ET.fromstring(XML)
print(root.tag, len(root), root[0].attrib, root.find("book/title").text, [b.get("id") for b in root.iter("book")], root.findtext("book[@id='2']/title"), [t.text for t in root.findall(".//tag")])
print(sum(float(p.text) for p in root.iter("price")), root.find("nope"), root[1].find("price").tail)
new = ET.SubElement(root, "book", id="3")
ET.SubElement(new, "title").text = "<new>"
root.remove(root[0])
ET.indent(root)
print(ET.tostring(root, encoding="unicode"))
print(ET.tostring(new, encoding="utf-8"), ET.tostring(ET.Element("e", {"b": "1", "a": "2"})), ET.canonicalize("<a  b='1' a='2'/>"))
for event, element in ET.iterparse(__import__("io").StringIO("<a><b>1</b><c/></a>"), ("start", "end")):
    print(event, element.tag, end=" ")
print()
for bad in ("<a>", "<a></b>", "", "<a b=c/>", "<a>&x;</a>"):
    try:
        ET.fromstring(bad)
    except ET.ParseError as error:
        print(error, error.position)
from xml.dom import minidom

print(minidom.parseString("<r><i k='v'>t</i></r>").toprettyxml(indent=" "))
