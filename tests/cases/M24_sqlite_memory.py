# M24: blobs of a gigabyte inside SQLite
# expect: ok | memory
import functools; print = functools.partial(print, flush=True)
import sqlite3
db = sqlite3.connect(":memory:")
for query in ("SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(900000000))", "SELECT randomblob(999999999)", "SELECT printf('%.*c', 900000000, 'x')", "SELECT group_concat(x) FROM (WITH RECURSIVE c(x) AS (SELECT hex(zeroblob(100000)) UNION ALL SELECT x FROM c LIMIT 20000) SELECT x FROM c)"):
    try:
        print("FAIL: got", query[:20], len(db.execute(query).fetchone()[0]))
    except (MemoryError, sqlite3.Error, OverflowError) as e:
        print("HELD:", query[7:17], type(e).__name__)
