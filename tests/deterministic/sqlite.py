import sqlite3
db = sqlite3.connect("/work/db")
print(db.execute("SELECT random(), hex(randomblob(8)), datetime('now'), julianday('now'), CURRENT_TIMESTAMP").fetchall())
db.execute("CREATE TABLE t(a)")
db.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(50)])
db.commit()
print(db.execute("SELECT a FROM t ORDER BY random() LIMIT 5").fetchall())
# --- turn ---
print(db.execute("SELECT random(), count(*) FROM t").fetchall())
