import sqlite3

with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE sales (id INTEGER PRIMARY KEY, item TEXT, qty INTEGER, price REAL)")
    db.executemany("INSERT INTO sales (item, qty, price) VALUES (?, ?, ?)",
                   [("pen", 10, 1.5), ("book", 2, 12.0), ("pen", 5, 1.4)])

db = sqlite3.connect("shop.db")
db.row_factory = sqlite3.Row
for row in db.execute("SELECT item, SUM(qty) AS n, ROUND(SUM(qty * price), 2) AS total FROM sales GROUP BY item ORDER BY item"):
    print(dict(row))
try:
    db.execute("SELECT * FROM nothing")
except sqlite3.OperationalError as e:
    print("Error:", e)
try:
    with db:
        db.execute("DELETE FROM sales")
        raise ValueError("changed my mind")
except ValueError:
    pass
print(db.execute("SELECT COUNT(*) FROM sales").fetchone()[0])
db.close()
