import cmd
import fnmatch
import getopt
import glob
import io
import os
import shlex

print(shlex.split("run 'a b' \"c d\" e\\ f # not a comment", comments=False), shlex.quote("it's"), shlex.join(["a b", "c"]), list(shlex.shlex("a=b;c", punctuation_chars=True)))
print(fnmatch.filter(["a.py", "b.txt", "c.PY"], "*.py"), fnmatch.fnmatchcase("data1", "data[0-9]"))
print(getopt.getopt(["-a", "-o", "x", "--long=1", "rest"], "ao:", ["long="]))
for name in ("a1.txt", "a2.txt", "b.txt"):
    open(name, "w").close()
os.makedirs("d/e")
open("d/e/deep.txt", "w").close()
print(sorted(glob.glob("a*.txt")), sorted(glob.glob("**/*.txt", recursive=True)), glob.escape("a[1]"), glob.glob("nope*"), sorted(glob.glob("*.txt", root_dir="d/e")))


class Shell(cmd.Cmd):
    prompt = "> "

    def do_add(self, line):
        """add A B: prints the sum"""
        print(sum(map(int, line.split())), file=self.stdout)

    def do_quit(self, line):
        return True

    def default(self, line):
        print("unknown:", line, file=self.stdout)


out = io.StringIO()
shell = Shell(stdin=io.StringIO("add 1 2\nbogus\nhelp add\nquit\n"), stdout=out)
shell.use_rawinput = False
shell.cmdloop("welcome")
print(out.getvalue())
try:
    shlex.split("'open")
except ValueError as error:
    print(error)
