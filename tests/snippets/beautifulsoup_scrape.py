from bs4 import BeautifulSoup

html = """<html><body><h1 class="title">News</h1>
<ul id="list"><li><a href="/a">First</a></li><li><a href="/b">Second &amp; last</a></li></ul>
<p>Price: <b>12</b> euro</p></body></html>"""
soup = BeautifulSoup(html, "html.parser")
print(soup.h1.text, soup.h1["class"], [a["href"] for a in soup.find_all("a")])
print([li.get_text() for li in soup.select("#list > li")], soup.find("p").get_text(" ", strip=True))
soup.h1.string = "Olds"
print(soup.h1, BeautifulSoup("<p>x", "lxml").p, BeautifulSoup("<p>x", "html5lib").body)
