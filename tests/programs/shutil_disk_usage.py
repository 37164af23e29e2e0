import shutil

usage = shutil.disk_usage(".")
print(type(usage).__name__, usage._fields)
print(usage.total > 0, usage.free <= usage.total)
print(shutil.which("surely-not-a-program"))
print(shutil.get_terminal_size())
