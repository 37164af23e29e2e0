import dbm
import shelve

with shelve.open("store") as db:
    db["list"] = [1, 2, 3]
    db["who"] = {"name": "Eve"}
with shelve.open("store") as db:
    print(sorted(db), db["who"]["name"], len(db["list"]))
with dbm.open("cache", "c") as db:
    db["key"] = "value"
    print(db["key"], b"other" in db)
