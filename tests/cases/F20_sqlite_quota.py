# F20: a database that grows until the disk is full, and works again when there is room
# expect: ok
# prints: HELD: database or disk is full
# prints: rows 3
import os, sqlite3
db = sqlite3.connect("/work/db.sqlite")
db.execute("CREATE TABLE t(b)")
try:
    for _ in range(200):
        db.execute("INSERT INTO t VALUES (randomblob(1000000))")
        db.commit()
    print("FAIL: 200 MB")
except sqlite3.OperationalError as e:
    print("HELD:", e)
db.close()
os.unlink("/work/db.sqlite")
for rest in ("-journal", "-wal", "-shm"):
    if os.path.exists("/work/db.sqlite" + rest):
        os.unlink("/work/db.sqlite" + rest)
db = sqlite3.connect("/work/two.sqlite")
db.execute("CREATE TABLE t(b)")
db.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(3)])
db.commit()
print("rows", db.execute("SELECT count(*) FROM t").fetchone()[0])
