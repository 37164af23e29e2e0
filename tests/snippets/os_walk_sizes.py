import os
import shutil

for folder in ("logs/2024", "logs/2025", "tmp"):
    os.makedirs(folder, exist_ok=True)
    for i in range(3):
        with open(os.path.join(folder, f"file{i}.log"), "w") as f:
            f.write("line\n" * (i + 1))

for dirpath, dirnames, filenames in os.walk("."):
    dirnames.sort()
    total = sum(os.path.getsize(os.path.join(dirpath, name)) for name in filenames)
    print(f"{dirpath:<12} {len(filenames)} files {total} bytes")

shutil.copytree("logs", "backup")
shutil.rmtree("tmp")
print(sorted(os.listdir(".")))
usage = shutil.disk_usage(".")
print(usage.total > 0, usage.total == usage.used + usage.free, usage.used >= 60)
