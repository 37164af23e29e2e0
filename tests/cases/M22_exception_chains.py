# M22: exceptions chained a hundred thousand deep, and groups inside groups: the report is bounded
# expect: error | timeout
e = None
for i in range(100_000):
    new = ValueError(i)
    new.__context__ = e
    e = new
raise e
# --- turn ---
# expect: error | memory | crashed
e = ValueError("leaf")
for i in range(50_000):
    e = ExceptionGroup("g", [e])
raise e
# --- turn ---
# expect: error
# raises: ValueError
e = ValueError("notes")
for i in range(100_000):
    e.add_note("n" * 100)
raise e
