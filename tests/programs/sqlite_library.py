import sqlite3

db = sqlite3.connect(":memory:")
db.row_factory = sqlite3.Row
db.executescript("""
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, year INT, price REAL, author_id INT REFERENCES author(id), CHECK (price >= 0));
CREATE INDEX by_year ON book(year);
""")
db.executemany("INSERT INTO author (name) VALUES (?)", [("Ann",), ("Bob",), ("Cy",)])
db.executemany("INSERT INTO book (title, year, price, author_id) VALUES (:t, :y, :p, :a)", [
    dict(t="Alpha", y=1999, p=10.5, a=1), dict(t="Beta", y=2005, p=7, a=2), dict(t="Gamma", y=2005, p=None, a=1), dict(t="Δelta", y=2020, p=25, a=1)])
for row in db.execute("SELECT a.name, COUNT(b.id) AS n, AVG(price) AS mean, GROUP_CONCAT(title, '/') AS titles FROM author a LEFT JOIN book b ON b.author_id = a.id GROUP BY a.id ORDER BY n DESC, a.name"):
    print(dict(row), row["n"], row.keys())
print([tuple(r) for r in db.execute("SELECT title, RANK() OVER (PARTITION BY author_id ORDER BY year DESC) FROM book WHERE price IS NOT NULL ORDER BY 1")])
print([tuple(r) for r in db.execute("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x * 2 FROM n WHERE x < 100) SELECT sum(x), max(x) FROM n")])
print(tuple(db.execute("SELECT upper('é'), length('Δ'), typeof(1.0), 7/2, 7%4, round(2.5), 'a' || 1, NULL IS NULL, date('2024-01-31', '+1 month'), json_extract('{\"a\": [1, 2]}', '$.a[1]')").fetchone()))
db.create_function("double", 1, lambda x: x * 2)


class Product:
    def __init__(self):
        self.value = 1

    def step(self, x):
        self.value *= x

    def finalize(self):
        return self.value


db.create_aggregate("product", 1, Product)
print(tuple(db.execute("SELECT double(21), (SELECT product(id) FROM book)").fetchone()))
for bad in ("INSERT INTO author (name) VALUES ('Ann')", "INSERT INTO book (price) VALUES (-1)", "SELECT * FROM nope", "SELEC 1", "INSERT INTO author (name) VALUES (NULL)", "SELECT ?"):
    try:
        db.execute(bad)
    except sqlite3.Error as error:
        print(type(error).__name__, error)
try:
    with db:
        db.execute("DELETE FROM book")
        raise ValueError("roll back")
except ValueError:
    print("rolled back", db.execute("SELECT COUNT(*) FROM book").fetchone()[0], db.in_transaction, db.total_changes)
cursor = db.execute("UPDATE book SET year = year + 1 WHERE year = 2005")
print(cursor.rowcount, cursor.lastrowid, [c[0] for c in db.execute("SELECT id, title AS t FROM book").description])
