# T39: pattern matching inside SQLite that is exponential, and a join of a hundred tables
# expect: timeout | error
import sqlite3
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t(a)")
db.executemany("INSERT INTO t VALUES (?)", [(str(i),) for i in range(1000)])
db.execute("SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.a || b.a LIKE '%1%2%3%4%5%'").fetchall()
print("FAIL: counted")
