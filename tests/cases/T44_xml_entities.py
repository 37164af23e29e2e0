# T44: a billion laughs, in three XML parsers
# expect: ok | timeout | error | memory
import functools; print = functools.partial(print, flush=True)
import xml.etree.ElementTree as etree
laughs = '<!DOCTYPE l [<!ENTITY a "' + "ha" * 100 + '">' + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 40}">' for i in range(9)) + "]><l>&j;</l>"
outside = '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>'
def lxml(text):
    from lxml import etree as e
    return e.tostring(e.fromstring(text, e.XMLParser(huge_tree=True, resolve_entities=True)))
for name, parse in (("etree", lambda t: etree.tostring(etree.fromstring(t))), ("lxml", lxml)):
    for text in (outside, laughs):
        try:
            got = parse(text)
            print("FAIL: read a file" if b"root:" in got else f"check: {name} {len(got)} bytes")
        except (etree.ParseError, SyntaxError, MemoryError, OSError, ValueError) as e:
            print("HELD:", name, type(e).__name__)
