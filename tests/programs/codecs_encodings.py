import codecs
import io

text = "Grüße, €5 – naïve 日本"
for name in ("utf-8", "utf-16", "utf-16-be", "utf-32-le", "utf-8-sig", "utf-7", "unicode_escape", "raw_unicode_escape", "punycode"):
    encoded = text.encode(name)
    print(name, encoded[:40], encoded.decode(name) == text)
for name in ("cp1252", "latin-1", "cp437", "iso8859-15", "koi8-r", "mac-roman", "gbk", "shift_jis", "big5", "euc-kr", "iso2022_jp"):
    print(name, text.encode(name, "replace"), codecs.lookup(name).name)
print(codecs.encode("Hello", "rot13"), codecs.decode("Uryyb", "rot_13"), codecs.encode(b"ab", "hex"), codecs.decode(b"6162", "hex"), codecs.encode(b"data", "base64"))
print("münchen.de".encode("idna"), b"xn--mnchen-3ya.de".decode("idna"), codecs.BOM_UTF8, codecs.escape_decode(b"a\\n")[0])
decoder = codecs.getincrementaldecoder("utf-8")()
print([decoder.decode(chunk) for chunk in (b"\xe6\x97", b"\xa5ab", b"\xc3", b"\xa9")])
stream = codecs.getreader("utf-16")(io.BytesIO("line1\nline2".encode("utf-16")))
print(stream.readlines())
codecs.register_error("smile", lambda error: (":)" * (error.end - error.start), error.end))
print("aéb日".encode("ascii", "smile"))
for bad in ("'x'.encode('nope')", "b'\\x81'.decode('cp1252')", "'é'.encode('ascii')", "b'\\xd8\\x00'.decode('utf-16-le')[0] + b'\\x00\\xd8'.decode('utf-16-le')", "codecs.lookup('zzz')", "b'\\xc3('.decode('utf-8')"):
    try:
        print(ascii(eval(bad)))
    except Exception as error:
        print(type(error).__name__, error)
