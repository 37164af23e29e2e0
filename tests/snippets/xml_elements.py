import xml.etree.ElementTree as ET
from xml.dom import minidom

root = ET.Element("library")
for title, year in (("Dune", 1965), ("Emma", 1815)):
    book = ET.SubElement(root, "book", year=str(year))
    ET.SubElement(book, "title").text = title
text = ET.tostring(root, encoding="unicode")
print(text)
ET.ElementTree(root).write("library.xml", encoding="utf-8", xml_declaration=True)
tree = ET.parse("library.xml")
print([b.findtext("title") for b in tree.iterfind("book") if int(b.get("year")) < 1900])
print(minidom.parseString(text).toprettyxml(indent="  ").splitlines()[2])
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as e:
    print(e)
