# T38: an endless recursive query inside SQLite
# expect: timeout
import sqlite3
sqlite3.connect(":memory:").execute("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c").fetchall()
print("FAIL: counted")
