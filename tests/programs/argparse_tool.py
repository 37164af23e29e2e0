import argparse
import io
from contextlib import redirect_stderr, redirect_stdout

parser = argparse.ArgumentParser(prog="tool", description="Does things.", epilog="That is all.", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
parser.add_argument("files", nargs="+", metavar="FILE")
parser.add_argument("-v", "--verbose", action="count", default=0)
parser.add_argument("--size", type=int, default=10, choices=range(5, 21, 5))
parser.add_argument("--name", required=False)
parser.add_argument("--flag", action=argparse.BooleanOptionalAction, default=True)
parser.add_argument("--pair", nargs=2, type=float, action="append")
group = parser.add_mutually_exclusive_group()
group.add_argument("--fast", action="store_true")
group.add_argument("--slow", dest="fast", action="store_false")
for argv in (["a"], ["a", "b", "-vvv", "--size=15", "--no-flag", "--pair", "1", "2", "--pair", "3", "4"], ["--slow", "--name", "x y", "--", "-f"]):
    print(parser.parse_args(argv))
print(parser.parse_known_args(["a", "--unknown", "1"]))


def attempt(parser, argv):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            print(parser.parse_args(argv))
        except SystemExit as stop:
            print("exit", stop.code)
    return out.getvalue(), err.getvalue().splitlines()[-1:]


for argv in ([], ["a", "--size", "x"], ["a", "--fast", "--slow"], ["a", "--bogus"], ["a", "--name"]):
    print(attempt(parser, argv))
tree = argparse.ArgumentParser(prog="git")
commands = tree.add_subparsers(dest="command", required=True)
add = commands.add_parser("add", help="adds")
add.add_argument("path")
add.set_defaults(run=lambda a: f"adding {a.path}")
commit = commands.add_parser("commit")
commit.add_argument("-m", required=True)
arguments = tree.parse_args(["add", "x.py"])
print(arguments.run(arguments), arguments.command, attempt(tree, ["commit"]), attempt(tree, ["commit", "-m", "text"]))
print("--size" in parser.format_help(), parser.format_help().splitlines()[-1], argparse.Namespace(a=1) == argparse.Namespace(a=1), vars(argparse.Namespace(b=2)))
