import os
import sqlite3
from datetime import date

with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE sale (day TEXT, amount REAL, blob BLOB)")
    db.executemany("INSERT INTO sale VALUES (?, ?, ?)", [(f"2024-{m:02}-15", m * 1.5, bytes([m] * m)) for m in range(1, 13)])
db.close()
print(os.path.exists("shop.db"), os.path.getsize("shop.db") % 4096, open("shop.db", "rb").read(15))
db = sqlite3.connect("shop.db", isolation_level=None)
print(db.execute("SELECT COUNT(*), SUM(amount), MAX(length(blob)) FROM sale").fetchone())
print(db.execute("SELECT strftime('%m', day) / 4 + 0 AS q, TOTAL(amount) FROM sale GROUP BY q ORDER BY q").fetchall())
db.execute("BEGIN")
db.execute("DELETE FROM sale WHERE amount > 3")
db.execute("SAVEPOINT s")
db.execute("DELETE FROM sale")
db.execute("ROLLBACK TO s")
db.execute("COMMIT")
print(db.execute("SELECT day, blob FROM sale").fetchall(), db.execute("PRAGMA integrity_check").fetchone(), db.execute("PRAGMA page_count").fetchone()[0] > 0)
other = sqlite3.connect("shop.db")
print(other.execute("SELECT COUNT(*) FROM sale").fetchone(), "\n".join(other.iterdump()).count("INSERT"))
backup = sqlite3.connect(":memory:")
other.backup(backup)
print(backup.execute("SELECT name, sql FROM sqlite_master").fetchall())
db.execute("CREATE VIRTUAL TABLE note USING fts5(body)")
db.executemany("INSERT INTO note VALUES (?)", [("the quick brown fox",), ("lazy dogs sleep",), ("quick dogs run",)])
print(db.execute("SELECT rowid, highlight(note, 0, '[', ']') FROM note WHERE note MATCH 'quick AND dogs'").fetchall())
db.close()
try:
    db.execute("SELECT 1")
except sqlite3.ProgrammingError as error:
    print(error)
