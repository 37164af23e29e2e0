# S33: SQLite draws fresh numbers in each session, also in the same second
# runs: 3
# differs
# expect: ok
import sqlite3
print(sqlite3.connect(":memory:").execute("SELECT random(), hex(randomblob(8))").fetchone())
