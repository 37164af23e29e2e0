# F37: the whole namespace, walked: what is documented and nothing else
# expect: ok
# prints: /
import os
seen = 0
for folder, folders, files in os.walk("/"):
    seen += 1
    if folder.count("/") < 4 and not folder.startswith("/usr/local/lib/"):
        print(folder, sorted(folders)[:9], sorted(files)[:9])
    if {"etc", "proc", "sys", "home", "root", "var"} & set(folders):
        print("FAIL: host folders", folders)
    for f in files:
        p = os.path.join(folder, f)
        if not p.startswith(("/usr/local/lib/", "/work/", "/tmp/")) and p not in ("/dev/null", "/dev/random", "/dev/urandom"):
            print("FAIL: a file", p)
print("walked", seen)
