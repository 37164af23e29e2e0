import argparse
import sys

parser = argparse.ArgumentParser(prog="tool", description="Adds numbers.")
parser.add_argument("numbers", nargs="+", type=float)
parser.add_argument("-o", "--op", choices=["sum", "max"], default="sum")
parser.add_argument("-v", "--verbose", action="count", default=0)
args = parser.parse_args(["1", "2.5", "-vv", "--op", "max"])
print(args)
print({"sum": sum, "max": max}[args.op](args.numbers))
sys.stderr = sys.stdout
try:
    parser.parse_args(["x"])
except SystemExit as e:
    print("exit code", e.code)
sub = argparse.ArgumentParser(prog="git")
commands = sub.add_subparsers(dest="command", required=True)
commands.add_parser("add").add_argument("path")
print(sub.parse_args(["add", "file.txt"]))
print(parser.parse_args([*"1 2".split()]).numbers, len(sys.argv))
