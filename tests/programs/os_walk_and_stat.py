import os
import stat
import time

os.makedirs("tree/a/b")
for path, text in (("tree/one.txt", "1"), ("tree/a/two.txt", "22"), ("tree/a/b/three.md", "333")):
    with open(path, "w") as file:
        file.write(text)
for folder, folders, files in sorted(os.walk("tree")):
    print(folder, sorted(folders), sorted(files))
print([folder for folder, _, _ in os.walk("tree", topdown=False)][-1], sum(os.path.getsize(os.path.join(f, n)) for f, _, names in os.walk("tree") for n in names))
with os.scandir("tree") as entries:
    print(sorted((e.name, e.is_dir(), e.is_file(), e.stat().st_size if e.is_file() else 0) for e in entries))
info = os.stat("tree/one.txt")
print(stat.S_ISREG(info.st_mode), stat.S_ISDIR(os.stat("tree").st_mode), info.st_size, abs(info.st_mtime - time.time()) < 60)
os.utime("tree/one.txt", (1000, 2000))
print(os.path.getmtime("tree/one.txt"))
print(os.path.join("a", "/b", "c"), os.path.split("/x/y.z"), os.path.splitext("a.b.c"), os.path.basename("q/"), os.path.dirname("q/r"), os.path.commonpath(["/a/b/c", "/a/b/d"]), os.path.relpath("/a/b", "/a/c/d"), os.path.isabs("x"), os.sep, os.linesep == "\n", os.curdir)
os.rename("tree/one.txt", "tree/uno.txt")
os.replace("tree/uno.txt", "tree/a/two.txt")
print(open("tree/a/two.txt").read(), os.listdir("tree"), os.path.exists("tree/one.txt"), os.path.isdir("tree/a"))
os.chdir("tree/a")
print(os.path.basename(os.getcwd()), sorted(os.listdir()), os.path.abspath("x").endswith("tree/a/x"))
os.remove("two.txt")
os.remove("b/three.md")
os.removedirs("b")
print(sorted(os.listdir("..") if os.path.exists("..") else []), os.environ.get("NOPE", "unset"), os.getenv("NOPE"), os.name)
os.environ["MINE"] = "1"
print(os.environ["MINE"], os.path.expandvars("$MINE/x"), "MINE" in os.environ)
