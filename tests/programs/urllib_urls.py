from urllib.parse import parse_qs, parse_qsl, quote, quote_plus, unquote, unquote_plus, urlencode, urljoin, urlparse, urlsplit, urlunparse, urldefrag

url = "https://user:pa%20ss@example.com:8443/a/b;p?q=1&q=2&empty=&x=%E2%82%AC+y#frag"
parts = urlparse(url)
print(parts)
print(parts.hostname, parts.port, parts.username, parts.password, parts.netloc, parts.geturl() == url, urlsplit(url).path)
print(parse_qs(parts.query), parse_qs(parts.query, keep_blank_values=True), parse_qsl("a=1&b=2&a=3"))
print(quote("a b/ü&=?"), quote("a/b", safe=""), quote_plus("a b&c"), unquote("%C3%BC%20%zz"), unquote_plus("a+b%2B"), quote(b"\xff"))
print(urlencode({"q": "python & more", "page": 2, "é": "ü"}), urlencode({"a": [1, 2]}, doseq=True), urlencode([("x", "1"), ("x", "2")]))
for base, ref in (("http://a/b/c/d", "../g"), ("http://a/b/c/d", "/g"), ("http://a/b/", "x?y"), ("http://a/b", "//h/i"), ("http://a/b/c", "#s"), ("http://a/b", "mailto:x@y")):
    print(base, ref, urljoin(base, ref))
print(urlunparse(("http", "h", "/p", "", "q=1", "f")), urldefrag("http://x/y#z"), urlparse("//host/path").netloc, urlparse("path/only"), urlparse("mailto:a@b.c"))
for bad in ("http://h:port/", "http://[::1/", "http://h:99999/"):
    try:
        print(urlparse(bad).port)
    except ValueError as error:
        print(error)
